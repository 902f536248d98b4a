#include "halo/face_exchange.hpp"

#include <utility>

namespace staghorn {

FaceExchange::FaceExchange(const Communicator& communicator, const Lattice& lattice,
                           const std::array<std::size_t, 8>& face_bytes) {
  std::size_t total = 0;
  for (int face = 0; face < 8; ++face) {
    offset_[face] = total;
    total += face_bytes[face];
  }
  send_ = Buffer(total);
  ghost_ = Buffer(total);
  std::vector<FaceChannel> to_self, to_others;
  for (int face = 0; face < 8; ++face) {
    if (face_bytes[face] == 0) continue;
    const int mu = face / 2, from = face % 2 == 0 ? +1 : -1;
    const FaceChannel channel{lattice.neighbour_rank(mu, -from), lattice.neighbour_rank(mu, from), face,
                              send_.data() + offset_[face],      ghost_.data() + offset_[face],    face_bytes[face]};
    (channel.send_to == lattice.rank() ? to_self : to_others).push_back(channel);
  }
  if (!to_self.empty()) self_ = make_self_transport(std::move(to_self));
  if (!to_others.empty()) mpi_ = make_mpi_transport(communicator, std::move(to_others));
}

std::string FaceExchange::transport() const {
  if (self_ && mpi_) return "self+mpi";
  return mpi_ ? "mpi" : self_ ? "self" : "none";
}

void FaceExchange::start() {
  if (mpi_) mpi_->start();
  if (self_) self_->start();
}

void FaceExchange::progress() {
  if (mpi_) mpi_->progress();
}

void FaceExchange::finish() {
  if (mpi_) mpi_->finish();
}

}  // namespace staghorn
