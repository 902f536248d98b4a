// A Transport moves a fixed set of messages between fixed places, again and again: start, (progress,) finish.
// Each way of moving bytes has a file of its own, transport_NAME.cpp. A transport knows nothing of what the bytes mean.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "halo/communicator.hpp"
#include "halo/transport/communication_times.hpp"
#include "halo/transport/face_pointers.hpp"

namespace staghorn {

class PeerTransport;
class NcclTransport;

// One message each way: `send` goes to rank `send_to`, `receive` is filled by rank `receive_from`. Either may be
// nobody, MPI_PROC_NULL. The tag names the ghost face that is filled, so that two messages between the same pair of
// ranks do not mix. `send` and `receive` are nullptr if the transport owns the ghosts.
struct FaceChannel {
  int send_to, receive_from, tag;
  const std::byte* send;
  std::byte* receive;
  std::size_t bytes;

  bool sends() const { return send_to != MPI_PROC_NULL; }
  bool receives() const { return receive_from != MPI_PROC_NULL; }
};

// What a loop that runs on GPUs can drive without the host. At most one is there. If neither is, the host must call
// start() and finish().
struct DeviceInterface {
  PeerTransport* peers = nullptr;  // kernels store faces straight into ghosts
  NcclTransport* nccl = nullptr;   // messages and sums are queued on streams
};

class Transport {
 public:
  virtual ~Transport() = default;
  virtual void start() = 0;  // the send buffers are ready; returns at once
  // Lets messages advance; call now and then while computing. True once finish() would not wait. False if that is not
  // known without waiting.
  virtual bool progress() = 0;
  virtual void finish() = 0;  // returns when every message of this round has arrived and left

  // If finish() only queues, this waits until the messages have arrived. Throws Error if they have not arrived after so
  // many seconds; then the transport cannot be used any more.
  virtual void await(double limit_seconds) { (void)limit_seconds; }
  // How long a kernel waits for a neighbour before it gives up: patience_seconds() (halo/watchdog.hpp) unless set.
  virtual void set_wait_limit(double seconds) { (void)seconds; }

  virtual DeviceInterface on_device() { return {}; }

  // Of a transport that owns the ghosts (TransportKind::owns_ghosts): where the faces of the coming round are to be
  // stored, where the ghosts of this round lie, and the bytes of its memory.
  virtual FacePointers outgoing() const { return {}; }
  virtual FacePointers incoming() const { return {}; }
  virtual std::int64_t bytes() const { return 0; }

  // Between GPUs: time_next_round() times the coming round. timed_round() waits for the device and returns the times of
  // the last round that was timed.
  virtual void time_next_round() {}
  virtual Flight timed_round() const { return {}; }
};

// Messages of a rank to itself on the host: a copy at start(). Local.
std::unique_ptr<Transport> make_self_transport(std::vector<FaceChannel> channels);
// Persistent non-blocking MPI requests. MPI must be able to reach the memory of the channels. `communicator` must
// outlive the transport. Local.
std::unique_ptr<Transport> make_mpi_transport(const Communicator& communicator, std::vector<FaceChannel> channels);

// Between GPUs "ready", "arrived" and "left" are meant for work queued on CUDA's default stream. The host waits for
// that stream at most to find out that faces are packed.

}  // namespace staghorn
