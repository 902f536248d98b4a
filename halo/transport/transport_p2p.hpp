// Faces that are stored straight into the ghost zones of their receivers, over NVLink or on one GPU; the host does
// nothing but queue. Two sets of ghosts take turns, so a face may be stored while its receiver still reads the last.
#pragma once

#include <cstdint>

#include "halo/lattice.hpp"
#include "halo/transport/peer_memory.hpp"
#include "halo/transport/transport.hpp"

namespace staghorn {

class PeerTransport final : public Transport {
 public:
  static constexpr int sets = 2;
  static constexpr std::size_t mailbox_bytes = std::size_t{1} << 19, line = 256;

  // face_bytes as for FaceExchange. Throws Error where a neighbour's memory cannot be reached. Collective.
  PeerTransport(const Communicator& communicator, const Lattice& lattice, const std::array<std::size_t, 8>& face_bytes);

  // Where the faces of the coming round are to be stored, and where those of this round lie.
  FacePointers outgoing() const { return outgoing((round_ + 1) % sets); }
  FacePointers incoming() const { return incoming(round_ % sets); }
  // The same by set, for kernels that make rounds of their own. They start and end with a barrier of all ranks.
  FacePointers outgoing(std::uint64_t set) const;
  FacePointers incoming(std::uint64_t set) const;
  // Zero at first, then whatever these kernels left there.
  std::byte* mailbox(int rank) const { return memory_.of(rank) + mailbox_offset_; }

  // Whether GPUs can add to each other's memory, all at once; not every bus lets them. Tried when this was made.
  bool adds_for_all() const { return adds_for_all_; }

  // Numbers for what these kernels write into mailboxes; alike on all ranks, never zero, never used twice.
  std::uint32_t next_tag() const { return next_tag_; }
  void use_tags(std::uint32_t count) { next_tag_ += count; }

  void start() override;
  bool progress() override { return false; }
  void finish() override;
  std::int64_t bytes() const { return std::int64_t(memory_.bytes()); }
  // How long a kernel waits for a neighbour's face before it gives up: patience_seconds() (halo/watchdog.hpp) unless
  // set.
  void set_wait_limit(double seconds) { wait_limit_ns_ = (long long)(seconds * 1e9); }

 private:
  std::uint64_t* flag(int rank, int face) const;
  bool try_adding(const Communicator& communicator);

  std::array<std::size_t, 8> bytes_, offset_{};
  std::array<int, 8> send_to_{}, receive_from_{};
  std::size_t set_bytes_ = 0, flags_offset_ = 0, mailbox_offset_ = 0;
  bool remote_ = false;  // some face leaves this rank
  bool adds_for_all_ = true;
  std::uint64_t round_ = 0;
  std::uint32_t next_tag_ = 1;
  int rank_;
  long long wait_limit_ns_;
  PeerMemory memory_;
  Buffer failed_;  // pinned: set by a kernel that waited in vain
};

}  // namespace staghorn
