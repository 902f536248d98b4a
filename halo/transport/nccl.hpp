// Messages and sums between GPUs by NCCL, queued on their streams. The library is loaded when it is asked for. The
// program is built and runs without it. Sums are of integers, so the order that NCCL chooses does not matter.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "halo/transport/transport.hpp"

namespace staghorn {

// NCCL's view of the ranks of a Communicator. Each rank has a GPU of its own.
class NcclCommunicator {
 public:
  // Loads the library and connects the selected devices; this can take a second. Throws Error with NCCL's own words.
  // Collective.
  explicit NcclCommunicator(const Communicator& communicator);
  ~NcclCommunicator();
  NcclCommunicator(const NcclCommunicator&) = delete;
  NcclCommunicator& operator=(const NcclCommunicator&) = delete;

  // exchange and sum queue on a cudaStream_t and return at once. The first call of each may wait for other ranks to
  // connect: before it stands Communicator::enter(). All ranks call them in the same order. They throw Error if NCCL
  // refuses.

  // Every message of `channels`, in device memory. Messages between the same two ranks are matched by their tags.
  void exchange(std::span<const FaceChannel> channels, void* stream) const;
  // The element-wise sum over ranks, on every rank, in place, in device memory.
  void sum(std::int64_t* values, std::size_t count, void* stream) const;

  // Waits until `reached`, but no longer than the limit (0: no limit). Returns what went wrong; "" if nothing did.
  // Throws RankFailed if another rank has raised an Alarm. Local.
  std::string await(const std::function<bool()>& reached, double limit_seconds) const;
  // Ends all queued messages and sums, so that the device can be used again. After that this object cannot be used.
  // Graphs that hold such work must have been destroyed before. Local.
  void give_up() noexcept;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

// The NcclCommunicator of these ranks and of the devices that they have selected. The first call makes it, and it is
// kept with `communicator`. Collective.
NcclCommunicator& nccl_communicator(const Communicator& communicator);

// Why these ranks cannot use NCCL; "" if they can. The loader must find the library, it must be new enough, and each
// rank must have a GPU of its own. Collective.
std::string nccl_obstacle(const Communicator& communicator);

}  // namespace staghorn
