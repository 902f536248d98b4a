// An event in the work queued on a GPU. Other streams and the host can wait for it, and the host can ask whether it was
// reached.
#pragma once

#include <utility>

#include "halo/cuda/cuda_check.hpp"

namespace staghorn::cuda {

class Event {
 public:
  Event() { STAGHORN_CUDA_CHECK(cudaEventCreateWithFlags(&handle_, cudaEventDisableTiming)); }
  ~Event() {
    if (handle_) cudaEventDestroy(handle_);
  }
  Event(Event&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  void record(cudaStream_t stream) { STAGHORN_CUDA_CHECK(cudaEventRecord(handle_, stream)); }
  void hold(cudaStream_t stream) const { STAGHORN_CUDA_CHECK(cudaStreamWaitEvent(stream, handle_, 0)); }
  void await() const { STAGHORN_CUDA_CHECK(cudaEventSynchronize(handle_)); }
  bool reached() const {
    const cudaError_t state = cudaEventQuery(handle_);
    if (state == cudaErrorNotReady) return false;
    check(state, "cudaEventQuery(handle_)", __FILE__, __LINE__);
    return true;
  }

 private:
  cudaEvent_t handle_ = nullptr;
};

}  // namespace staghorn::cuda
