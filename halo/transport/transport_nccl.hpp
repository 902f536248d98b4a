// Faces by NCCL: grouped sends and receives in a stream of their own, between GPUs of one host or of several hosts. The
// host only queues.
#pragma once

#include <vector>

#include "halo/cuda/cuda_event.hpp"
#include "halo/cuda/cuda_time_mark.hpp"
#include "halo/transport/nccl.hpp"
#include "halo/transport/transport.hpp"

namespace staghorn {

class NcclTransport final : public Transport {
 public:
  // Connects the ranks; the ghosts of `channels` get what lies in their send buffers. Throws Error on all ranks where
  // NCCL cannot connect them. `communicator` must outlive the transport. Collective.
  NcclTransport(const Communicator& communicator, std::vector<FaceChannel> channels);
  ~NcclTransport() override;

  // For work queued on any stream. start_after: the messages wait for the work that was queued on `stream` before.
  // finish_before: work that is queued on `stream` from now on waits until all messages have arrived and left.
  void start_after(cudaStream_t stream);
  void finish_before(cudaStream_t stream);
  NcclCommunicator& nccl() { return nccl_; }

  void start() override { start_after(nullptr); }
  bool progress() override { return false; }
  // With an Alarm the host waits: only so it hears of a rank that fails.
  void finish() override;
  void await(double limit_seconds) override;
  DeviceInterface on_device() override { return {.nccl = this}; }

  void time_next_round() override { timed_ = true; }
  Flight timed_round() const override { return {{}, {0, done_mark_.seconds_since(packed_mark_)}, {}}; }

 private:
  const Communicator& communicator_;
  NcclCommunicator& nccl_;
  std::vector<FaceChannel> channels_;
  cudaStream_t stream_ = nullptr;
  cuda::Event packed_, underway_, done_;
  bool timed_ = false;
  cuda::TimeMark packed_mark_, done_mark_;
};

}  // namespace staghorn
