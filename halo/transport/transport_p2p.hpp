// Kernels store faces straight into the ghost zones of their receivers, over NVLink or on one GPU. The host only
// queues. Two sets of ghosts take turns, so a face may be stored while its receiver still reads the face before.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "halo/cuda/wait_limits.hpp"
#include "halo/transport/peer_memory.hpp"
#include "halo/transport/transport.hpp"

namespace staghorn {

class PeerTransport final : public Transport {
 public:
  static constexpr int sets = 2;
  static constexpr std::size_t mailbox_bytes = std::size_t{1} << 19, line = 256;

  // The faces that this rank sends and receives, one channel for each; its tag is the face. Throws Error where a
  // neighbour's memory cannot be reached. Collective.
  PeerTransport(const Communicator& communicator, const std::vector<FaceChannel>& channels);

  FacePointers outgoing() const override { return outgoing((round_ + 1) % sets); }
  FacePointers incoming() const override { return incoming(round_ % sets); }
  // The same by set, for kernels that make rounds of their own. They start and end with a barrier of all ranks.
  FacePointers outgoing(std::uint64_t set) const;
  FacePointers incoming(std::uint64_t set) const;
  // Memory for messages between these kernels. It is zero at first; then it holds what the last kernel left there.
  std::byte* mailbox(int rank) const { return memory_.of(rank); }

  // Whether all GPUs can add to each other's memory at once. Not every bus lets them; the constructor tries it.
  bool adds_for_all() const { return adds_for_all_; }

  // Tags for the words that these kernels write into mailboxes. A tag is the same on all ranks, is never zero and is
  // never used twice.
  std::uint32_t next_tag() const { return next_tag_; }
  void use_tags(std::uint32_t count) { next_tag_ += count; }

  void start() override;
  bool progress() override { return false; }
  void finish() override;
  std::int64_t bytes() const override { return std::int64_t(memory_.bytes()); }
  void set_wait_limit(double seconds) override { wait_limit_ns_ = (long long)(seconds * 1e9); }
  // Of kernels that wait for other ranks.
  cuda::WaitLimits wait_limits() const { return {wait_limit_ns_, memory_.called_off()}; }
  // After such a kernel has waited in vain: throws RankFailed if waits were called off. Local.
  void hear() const;
  DeviceInterface on_device() override { return {.peers = this}; }

 private:
  std::uint64_t* flag(int rank, int face) const;
  bool try_adding(const Communicator& communicator);

  static constexpr std::size_t faces_offset = mailbox_bytes + 8 * line;  // mailbox, flags, then the sets of faces

  std::array<std::size_t, 8> offset_{};
  std::array<std::array<std::size_t, sets>, 8> places_there_{};  // of the face that this rank sends, at its receiver
  std::array<int, 8> send_to_, receive_from_;                    // MPI_PROC_NULL: there is no such face
  std::size_t set_bytes_ = 0;
  bool remote_ = false;  // some face leaves this rank
  bool adds_for_all_ = true;
  std::uint64_t round_ = 0;
  std::uint32_t next_tag_ = 1;
  int rank_;
  long long wait_limit_ns_;
  PeerMemory memory_;
  Buffer failed_;  // pinned: a kernel that waited in vain sets it
};

}  // namespace staghorn
