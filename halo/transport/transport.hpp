// A Transport moves a fixed set of messages between fixed places, again and again: start, (progress,) finish.
// One file per way of moving bytes. It knows nothing of what the bytes mean.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "halo/communicator.hpp"
#include "halo/transport/communication_times.hpp"
#include "halo/transport/face_pointers.hpp"

namespace staghorn {

// One message each way: `send` goes to rank `send_to`, `receive` is filled by rank `receive_from`. The tag names the
// ghost face that is filled, so that two messages between the same pair of ranks do not mix.
struct FaceChannel {
  int send_to, receive_from, tag;
  const std::byte* send;
  std::byte* receive;
  std::size_t bytes;
};

class Transport {
 public:
  virtual ~Transport() = default;
  virtual void start() = 0;  // the send buffers are ready; returns at once
  // Lets messages advance; call now and then while computing. True once finish() would not wait. Where that is not
  // known without waiting: false.
  virtual bool progress() = 0;
  virtual void finish() = 0;  // returns when every message of this round has arrived and left

  // Where finish() only queues: waits until the messages have arrived. Throws Error if they have not after so many
  // seconds; the transport cannot be used any more then.
  virtual void await(double limit_seconds) { (void)limit_seconds; }

  // Between GPUs: times the coming round, and what came of the last that was timed. The latter waits for the device.
  virtual void time_next_round() {}
  virtual Flight timed_round() const { return {}; }
};

// Messages of a rank to itself: a copy at start().
std::unique_ptr<Transport> make_self_transport(std::vector<FaceChannel> channels);
// Persistent non-blocking MPI requests. `communicator` must outlive the transport. Local to set up.
std::unique_ptr<Transport> make_mpi_transport(const Communicator& communicator, std::vector<FaceChannel> channels);

// Between GPUs. "Ready", "arrived" and "left" then mean: for work queued on CUDA's default stream, which is never
// waited for by the host but to find out that faces are packed.

// Through pinned host memory: asynchronous copies and non-blocking MPI, each face on a stream of its own, so that
// copies and messages of different faces overlap [Kim & Lee, Lattice 2010].
std::unique_ptr<Transport> make_staged_transport(const Communicator& communicator, std::vector<FaceChannel> channels);
// The same for faces that are packed straight into pinned memory: `send` lies there.
std::unique_ptr<Transport> make_mapped_transport(const Communicator& communicator, std::vector<FaceChannel> channels);
// By an MPI library that takes device pointers, if it says that it does.
bool mpi_takes_device_pointers();
std::unique_ptr<Transport> make_cuda_aware_transport(const Communicator& communicator,
                                                     std::vector<FaceChannel> channels);

}  // namespace staghorn
