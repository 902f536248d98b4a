// Device memory that every rank of one host can write into. Each rank makes one allocation, and all other ranks open it
// through CUDA IPC [CUDA C++ Programming Guide, "Interprocess Communication"]. The caller decides what lies in it.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "halo/buffer.hpp"
#include "halo/communicator.hpp"

namespace staghorn {

// So many ranks may write into each other's memory: loops on GPUs keep one place for each.
inline constexpr int most_peers = 16;

class PeerMemory {
 public:
  PeerMemory() = default;
  // Zero-filled. Throws Error on all ranks if one cannot reach another. Collective.
  PeerMemory(const Communicator& communicator, std::size_t bytes);
  ~PeerMemory();
  PeerMemory(PeerMemory&& other) noexcept;
  PeerMemory& operator=(PeerMemory&& other) noexcept;

  std::size_t bytes() const { return own_.bytes(); }
  std::byte* own() { return own_.data(); }
  // The address of that rank's memory for this device. Local.
  std::byte* of(int rank) const { return places_[std::size_t(rank)]; }

 private:
  void close() noexcept;

  Buffer own_;
  std::vector<std::byte*> places_;  // by rank
  int rank_ = 0;
};

// Whether two ranks have selected the same device. Collective.
bool ranks_share_a_gpu(const Communicator& communicator);

// Why so many ranks cannot use peer memory, or "" if they can. Local.
std::string peer_count_obstacle(int ranks);
// Why kernels of these ranks cannot write into each other's memory and wait for each other, or "" if they can. The
// ranks must be at most `most_peers`, on one host, each with a GPU of its own. Collective.
std::string peer_obstacle(const Communicator& communicator);

}  // namespace staghorn
