#include "halo/cuda/cuda_check.hpp"
#include "halo/cuda/cuda_slow_down.hpp"
#include "halo/cuda/cuda_wait.cuh"

namespace staghorn::cuda {

namespace {

__global__ void start_kernel(long long* start) { *start = nanoseconds(); }

__global__ void wait_kernel(const long long* start, double factor) {
  const long long began = *start;
  const double wanted = factor * double(nanoseconds() - began);
  while (double(nanoseconds() - began) < wanted) {
  }
}

}  // namespace

void begin_slow_work(void* start, void* stream) {
  start_kernel<<<1, 1, 0, static_cast<cudaStream_t>(stream)>>>(static_cast<long long*>(start));
  STAGHORN_CUDA_CHECK_LAUNCH(start_kernel);
}

void end_slow_work(const void* start, double factor, void* stream) {
  wait_kernel<<<1, 1, 0, static_cast<cudaStream_t>(stream)>>>(static_cast<const long long*>(start), factor);
  STAGHORN_CUDA_CHECK_LAUNCH(wait_kernel);
}

}  // namespace staghorn::cuda
