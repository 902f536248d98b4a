#include "halo/cuda/cuda_time_mark.hpp"

#ifdef STAGHORN_CUDA

#include "halo/cuda/cuda_check.hpp"

namespace staghorn::cuda {

TimeMark::~TimeMark() {
  if (event_) cudaEventDestroy(static_cast<cudaEvent_t>(event_));
}

void TimeMark::set(void* stream) {
  cudaEvent_t event = static_cast<cudaEvent_t>(event_);
  if (!event) STAGHORN_CUDA_CHECK(cudaEventCreate(&event));
  event_ = event;
  STAGHORN_CUDA_CHECK(cudaEventRecord(event, static_cast<cudaStream_t>(stream)));
}

double TimeMark::seconds_since(const TimeMark& earlier) const {
  float milliseconds = 0;
  STAGHORN_CUDA_CHECK(cudaEventSynchronize(static_cast<cudaEvent_t>(event_)));
  STAGHORN_CUDA_CHECK(
      cudaEventElapsedTime(&milliseconds, static_cast<cudaEvent_t>(earlier.event_), static_cast<cudaEvent_t>(event_)));
  return 1e-3 * double(milliseconds);
}

}  // namespace staghorn::cuda

#else

#include "halo/watch/error.hpp"

namespace staghorn::cuda {

TimeMark::~TimeMark() = default;
void TimeMark::set(void*) { throw Error("this build of Staghorn has no CUDA code"); }
double TimeMark::seconds_since(const TimeMark&) const { throw Error("this build of Staghorn has no CUDA code"); }

}  // namespace staghorn::cuda

#endif
