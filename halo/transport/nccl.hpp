// NCCL, loaded when it is asked for: messages and sums between GPUs, queued on their streams. The program neither needs
// the library to be built nor to run. Sums are of integers: their order, which NCCL chooses, does not matter.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "halo/transport/transport.hpp"

namespace staghorn {

// The ranks of a Communicator, each with a GPU of its own, as NCCL knows them.
class NcclCommunicator {
 public:
  // Loads the library and connects the selected devices; takes 0.1 to 1 s. Throws Error, with NCCL's own words.
  // Collective.
  explicit NcclCommunicator(const Communicator& communicator);
  ~NcclCommunicator();
  NcclCommunicator(const NcclCommunicator&) = delete;
  NcclCommunicator& operator=(const NcclCommunicator&) = delete;

  std::string version() const;  // "2.27.3"

  // Both queue on a cudaStream_t and return at once (the first call of a kind may wait for other ranks to connect).
  // All ranks call them in the same order. They throw Error where NCCL refuses.

  // Every message of `channels`, in device memory. Those between the same two ranks are matched by their tags.
  void exchange(std::span<const FaceChannel> channels, void* stream) const;
  // The element-wise sum over ranks, on every rank, in place, in device memory.
  void sum(std::int64_t* values, std::size_t count, void* stream) const;

  // Waits until `reached`, for at most that long (0: for ever). Returns what went wrong instead, or nothing. Local.
  std::string await(const std::function<bool()>& reached, double limit_seconds) const;
  // Ends whatever is queued, so that the device can be used again; nothing here can after that. Graphs that hold any of
  // it must be gone. Local.
  void give_up() noexcept;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// The one of these ranks and the devices that they have selected, made when first asked for and kept with
// `communicator`. Collective.
NcclCommunicator& nccl_communicator(const Communicator& communicator);

// Why these ranks cannot use NCCL, or nothing where they can: it must be found by the loader, new enough, and each rank
// must have a GPU of its own. Collective.
std::string nccl_obstacle(const Communicator& communicator);

}  // namespace staghorn
