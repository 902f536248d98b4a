// Device memory that every rank of one host can write into. Each rank makes one allocation, and all other ranks open it
// through CUDA IPC [CUDA C++ Programming Guide, "Interprocess Communication"]. The caller decides what lies in it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "halo/buffer.hpp"
#include "halo/communicator.hpp"
#include "halo/cuda/cuda_device.hpp"
#include "halo/watch/alarm.hpp"

namespace staghorn {

// So many ranks may write into each other's memory: loops on GPUs keep one place for each.
inline constexpr int most_peers = 16;

class PeerMemory {
 public:
  PeerMemory() = default;
  // Zero-filled. Throws Error on all ranks if one cannot reach another. Collective.
  PeerMemory(const Communicator& communicator, std::size_t bytes);

  std::size_t bytes() const { return shared_->bytes(); }
  // The address of that rank's memory for this device. Local.
  std::byte* of(int rank) const { return shared_->of(rank) + head; }
  // A word of this rank's GPU. It is zero until a rank that has raised an Alarm calls off all waits of kernels.
  const std::uint64_t* called_off() const { return shared_->word(shared_->rank()); }
  bool is_called_off() const;  // local

 private:
  static constexpr std::size_t head = 256;  // bytes of an allocation before what the caller has: the word

  // Ranks store into it until they have met after a failure, so it may outlive its transport.
  class Shared final : public Alarm::DeviceWork {
   public:
    Shared(int rank, std::size_t bytes);
    ~Shared() override;
    void open(const std::vector<cuda::IpcHandle>& handles);
    void call_off() noexcept override;
    void come_to_rest() noexcept override;  // then this rank reaches no memory but its own

    int rank() const { return rank_; }
    std::size_t bytes() const { return own_.bytes(); }
    std::byte* of(int rank) const { return places_[std::size_t(rank)]; }
    std::uint64_t* word(int rank) const { return reinterpret_cast<std::uint64_t*>(of(rank)); }
    cuda::IpcHandle handle() { return cuda::ipc_handle(own_.data()); }

   private:
    void close() noexcept;

    int rank_, device_;
    Buffer own_;
    std::vector<std::byte*> places_;  // by rank
  };

  std::shared_ptr<Shared> shared_;
};

// Whether two ranks have selected the same device. Collective.
bool ranks_share_a_gpu(const Communicator& communicator);

// Why so many ranks cannot use peer memory, or "" if they can. Local.
std::string peer_count_obstacle(int ranks);
// Why kernels of these ranks cannot write into each other's memory and wait for each other, or "" if they can. The
// ranks must be at most `most_peers`, on one host, each with a GPU of its own. Collective.
std::string peer_obstacle(const Communicator& communicator);

}  // namespace staghorn
