#include "halo/transport/face_exchange.hpp"

#include <algorithm>
#include <utility>

#include "halo/watch/adverse_timing.hpp"
#include "halo/watch/error.hpp"
#ifdef STAGHORN_CUDA
#include "halo/transport/transport_nccl.hpp"
#endif

namespace staghorn {

namespace {

std::unique_ptr<Transport> make_local_transport(const std::string& name, const Communicator& communicator,
                                                std::vector<FaceChannel> channels) {
  if (name == "mpi") return make_mpi_transport(communicator, std::move(channels));
#ifdef STAGHORN_CUDA
  if (name == "staged") return make_staged_transport(communicator, std::move(channels));
  if (name == "mapped") return make_mapped_transport(communicator, std::move(channels));
  if (name == "cuda-aware") return make_cuda_aware_transport(communicator, std::move(channels));
#endif
  throw Error("unknown transport '" + name + "'");
}

// Throws Error on all ranks alike. Collective.
std::unique_ptr<Transport> make_transport(const std::string& name, const Communicator& communicator,
                                          std::vector<FaceChannel> channels) {
#ifdef STAGHORN_CUDA
  if (name == "nccl") return std::make_unique<NcclTransport>(communicator, std::move(channels));
#endif
  std::unique_ptr<Transport> made;
  communicator.agree([&] { made = make_local_transport(name, communicator, std::move(channels)); });
  return made;
}

bool all_faces_stay(const Lattice& lattice) { return volume(lattice.grid()) == 1; }

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
  if (space == MemorySpace::cuda && (transport == "p2p" || all_faces_stay(lattice))) {
    peers_ = std::make_unique<PeerTransport>(communicator, lattice, face_bytes);
    name_ = all_faces_stay(lattice) ? "self" : "p2p";
    return;
  }
  communicator.agree([&] {
    send_ = Buffer(total, transport == "mapped" ? MemorySpace::pinned : space);
    ghost_ = Buffer(total, space);
  });
  std::vector<FaceChannel> to_self, to_others;
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
      send_places_[face] = ghost_places_[face];  // packed where it is read: the stream keeps the order
  }
  name_ = to_others.empty() ? "self" : to_self.empty() ? transport : "self+" + transport;
  if (!to_self.empty()) self_ = make_self_transport(std::move(to_self));
  if (!to_others.empty()) others_ = make_transport(transport, communicator, std::move(to_others));
#ifdef STAGHORN_CUDA
  if (all_leave) nccl_ = dynamic_cast<NcclTransport*>(others_.get());
#endif
}

void FaceExchange::start() {
  const CollectiveActivity activity("faces leave", rank_);
  if (peers_) return peers_->start();
  departed_ = MPI_Wtime();
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
  if (peers_) return peers_->finish();
  if (others_) others_->finish();
  account(0, true);
}

void FaceExchange::await(double limit_seconds) {
  if (others_) others_->await(limit_seconds);
}

void FaceExchange::account(double computed, bool arrived) {
  if (arrived_) return;
  computed_ += computed;
  if (!arrived) return;
  arrived_ = true;
  const double seconds = MPI_Wtime() - departed_;
  in_flight_ += {seconds, std::min(computed_, seconds)};
}

std::vector<std::string> transport_names(MemorySpace space) {
  if (space == MemorySpace::host) return {"mpi"};
#ifdef STAGHORN_CUDA
  return {"p2p", "nccl", "staged", "mapped", "cuda-aware"};
#else
  return {};
#endif
}

std::string transport_obstacle(const Communicator& communicator, const std::string& name) {
  if (name == "p2p") return peer_obstacle(communicator);
#ifdef STAGHORN_CUDA
  if (name == "nccl") return nccl_obstacle(communicator);
  if (name == "cuda-aware" && !mpi_takes_device_pointers()) return "this MPI library does not take device pointers";
#endif
  return {};
}

}  // namespace staghorn
