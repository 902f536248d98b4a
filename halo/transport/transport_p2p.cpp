#include "halo/transport/transport_p2p.hpp"

#include <string>
#include <vector>

#include "halo/cuda/cuda_device.hpp"
#include "halo/cuda/cuda_flags.hpp"
#include "halo/transport/transport_table.hpp"
#include "halo/watchdog.hpp"

namespace staghorn {

PeerTransport::PeerTransport(const Communicator& communicator, const std::vector<FaceChannel>& channels)
    : rank_(communicator.rank()), wait_limit_ns_(patience_nanoseconds()) {
  // Flags and mailboxes come first: they lie at the same place on every rank. Faces come after them. Where slabs have
  // other widths, the faces of a neighbour have other places: each rank tells them.
  std::vector<std::int64_t> places(8 * std::size_t(communicator.size()), 0);
  send_to_.fill(MPI_PROC_NULL);
  receive_from_.fill(MPI_PROC_NULL);
  for (const FaceChannel& c : channels) {
    const std::size_t face = std::size_t(c.tag);
    send_to_[face] = c.send_to;
    receive_from_[face] = c.receive_from;
    remote_ = remote_ || (c.sends() && c.send_to != rank_);
    if (!c.receives()) continue;
    offset_[face] = set_bytes_;
    places[8 * std::size_t(rank_) + face] = std::int64_t(offset_[face]);
    set_bytes_ += (c.bytes + line - 1) / line * line;
  }
  std::vector<std::int64_t> sizes(std::size_t(communicator.size()), 0);
  sizes[std::size_t(rank_)] = std::int64_t(set_bytes_);
  if (communicator.size() > 1) {
    communicator.sum(places);
    communicator.sum(sizes);
  }
  for (int face = 0; face < 8; ++face) {
    if (send_to_[face] == MPI_PROC_NULL) continue;
    for (int set = 0; set < sets; ++set)
      places_there_[face][set] = faces_offset + std::size_t(set) * std::size_t(sizes[std::size_t(send_to_[face])]) +
                                 std::size_t(places[8 * std::size_t(send_to_[face]) + std::size_t(face)]);
  }
  memory_ = PeerMemory(communicator, faces_offset + sets * set_bytes_);
  failed_ = Buffer(sizeof(int), MemorySpace::pinned);
  if (communicator.size() > 1) adds_for_all_ = try_adding(communicator);
}

bool PeerTransport::try_adding(const Communicator& communicator) {
  std::vector<std::uint64_t*> counters;
  for (int rank = 0; rank < communicator.size(); ++rank)
    counters.push_back(reinterpret_cast<std::uint64_t*>(mailbox(rank)));
  communicator.barrier();
  const std::uint64_t added = cuda::add_to_counters(counters);
  cuda::synchronize();
  communicator.barrier();
  std::uint64_t count = 0;
  cuda::copy_to_host(&count, mailbox(rank_), sizeof count);
  constexpr std::uint64_t zero = 0;
  cuda::copy_to_device(mailbox(rank_), &zero, sizeof zero);
  return !communicator.any(count != added * std::uint64_t(communicator.size()));
}

FacePointers PeerTransport::outgoing(std::uint64_t set) const {
  FacePointers places{};
  for (int face = 0; face < 8; ++face)
    if (send_to_[face] != MPI_PROC_NULL) places[face] = memory_.of(send_to_[face]) + places_there_[face][set];
  return places;
}

FacePointers PeerTransport::incoming(std::uint64_t set) const {
  FacePointers places{};
  for (int face = 0; face < 8; ++face)
    if (receive_from_[face] != MPI_PROC_NULL)
      places[face] = memory_.of(rank_) + faces_offset + set * set_bytes_ + offset_[face];
  return places;
}

void PeerTransport::start() {
  ++round_;
  if (!remote_) return;
  if (*reinterpret_cast<volatile int*>(failed_.data())) {
    hear();
    throw Stalled("faces by p2p: a neighbour of rank " + std::to_string(rank_) + " did not answer in time");
  }
  cuda::Flags theirs{};
  for (int face = 0; face < 8; ++face)
    if (send_to_[face] != MPI_PROC_NULL) theirs[face] = flag(send_to_[face], face);
  cuda::raise_flags(theirs, round_);
}

void PeerTransport::finish() {
  if (!remote_) return;
  cuda::Flags mine{};
  for (int face = 0; face < 8; ++face)
    if (receive_from_[face] != MPI_PROC_NULL) mine[face] = flag(rank_, face);
  cuda::wait_for_flags(mine, round_, wait_limits(), reinterpret_cast<int*>(failed_.data()));
}

void PeerTransport::hear() const {
  if (memory_.is_called_off()) throw RankFailed();
}

std::uint64_t* PeerTransport::flag(int rank, int face) const {
  return reinterpret_cast<std::uint64_t*>(memory_.of(rank) + mailbox_bytes + line * std::size_t(face));
}

static_assert(most_peers <= cuda::max_counters);

extern const TransportKind p2p_transport = {
    .name = "p2p",
    .description = "kernels store faces into the neighbour's memory; one host, a GPU for each rank",
    .space = MemorySpace::cuda,
    .packed_in = MemorySpace::cuda,
    .by_messages = false,
    .owns_ghosts = true,
    .to_host = {TimedPart::inside_another, "within the kernels"},
    .to_device = {TimedPart::inside_another, "within the kernels"},
    .messages_note = "",
    .overlap_note = "",
    .obstacle = peer_obstacle,
#ifdef STAGHORN_CUDA
    .make = [](const TransportSetup& s) -> std::unique_ptr<Transport> {
      return std::make_unique<PeerTransport>(s.communicator, s.channels);
    },
#else
    .make = nullptr,
#endif
};

#ifndef STAGHORN_CUDA
namespace cuda {
void raise_flags(const Flags&, std::uint64_t) {}
void wait_for_flags(const Flags&, std::uint64_t, const WaitLimits&, int*) {}
std::uint64_t add_to_counters(const std::vector<std::uint64_t*>&) { return 0; }
}  // namespace cuda
#endif

}  // namespace staghorn
