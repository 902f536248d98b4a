#include "halo/transport/face_exchange.hpp"

#include <algorithm>
#include <utility>

#include "halo/watch/adverse_timing.hpp"
#include "halo/watch/error.hpp"
#include "halo/watch/stopwatch.hpp"

namespace staghorn {

namespace {

bool all_faces_stay(const Lattice& lattice) { return volume(lattice.grid()) == 1; }

// Between GPUs p2p also carries the faces of a rank to itself.
const TransportKind& kind_of(const Lattice& lattice, MemorySpace space, const std::string& name) {
  if (!all_faces_stay(lattice)) return find_transport(name, space);
  return space == MemorySpace::cuda ? p2p_transport : self_transport;
}

}  // namespace

FaceExchange::FaceExchange(const Communicator& communicator, const Lattice& lattice,
                           const std::array<std::size_t, 8>& face_bytes, MemorySpace space,
                           const std::string& transport)
    : rank_(lattice.rank()), face_bytes_(face_bytes) {
  std::size_t total = 0;
  std::array<std::size_t, 8> offset{};
  for (int face = 0; face < 8; ++face) {
    offset[face] = total;
    total += face_bytes[face];
  }
  if (total == 0) return;
  std::vector<FaceChannel> to_self, to_others;
  kind_ = &kind_of(lattice, space, transport);
  if (kind_->owns_ghosts) {
    others_ = kind_->make({communicator, lattice, face_bytes, to_others});
    on_device_ = others_->on_device();
    name_ = all_faces_stay(lattice) ? "self" : transport;
    return;
  }
  communicator.agree([&] {
    send_ = Buffer(total, kind_->packed_in);
    ghost_ = Buffer(total, space);
  });
  bool all_leave = true;
  for (int face = 0; face < 8; ++face) {
    if (face_bytes[face] == 0) continue;
    send_places_[face] = send_.data() + offset[face];
    ghost_places_[face] = ghost_.data() + offset[face];
    const int mu = face / 2, from = face % 2 == 0 ? +1 : -1;
    const FaceChannel channel{lattice.neighbour_rank(mu, -from),
                              lattice.neighbour_rank(mu, from),
                              face,
                              send_places_[face],
                              ghost_places_[face],
                              face_bytes[face]};
    all_leave &= channel.send_to != lattice.rank();
    if (channel.send_to != lattice.rank())
      to_others.push_back(channel);
    else if (space == MemorySpace::host)
      to_self.push_back(channel);
    else
      send_places_[face] = ghost_places_[face];  // kernels pack it into its ghost; the stream keeps the order
  }
  name_ = to_others.empty() ? "self" : to_self.empty() ? transport : "self+" + transport;
  if (!to_self.empty()) self_ = make_self_transport(std::move(to_self));
  if (!to_others.empty()) others_ = kind_->make({communicator, lattice, face_bytes, to_others});
  if (all_leave) on_device_ = others_->on_device();
}

void FaceExchange::start() {
  const CollectiveActivity activity("faces leave", rank_);
  if (owns_ghosts()) return others_->start();
  departed_ = wall_seconds();
  computed_ = 0;
  arrived_ = false;
  if (others_) others_->start();
  if (self_) self_->start();
  account(0, !others_);
}

void FaceExchange::progress(double computed) {
  adverse_delay(rank_);
  if (others_) account(computed, others_->progress());
}

void FaceExchange::finish() {
  const CollectiveActivity activity("faces arrive", rank_);
  if (owns_ghosts()) return others_->finish();
  if (others_) others_->finish();
  account(0, true);
}

void FaceExchange::await(double limit_seconds) {
  if (others_) others_->await(limit_seconds);
}

void FaceExchange::set_wait_limit(double seconds) {
  if (others_) others_->set_wait_limit(seconds);
}

void FaceExchange::account(double computed, bool arrived) {
  if (arrived_) return;
  computed_ += computed;
  if (!arrived) return;
  arrived_ = true;
  const double seconds = wall_seconds() - departed_;
  in_flight_ += {seconds, std::min(computed_, seconds)};
}

}  // namespace staghorn
