// Checks the result of a CUDA runtime call. Throws LocalError with file, line, the call and CUDA's message.
#pragma once

#include <cuda_runtime.h>

#include <string>

#include "halo/watch/error.hpp"
#include "halo/watch/injected_faults.hpp"

namespace staghorn::cuda {

inline void check(cudaError_t code, const char* call, const char* file, int line) {
  if (cuda_call_is_to_fail()) code = cudaErrorLaunchFailure;
  if (code == cudaSuccess) return;
  const std::string advice =
      code == cudaErrorNoKernelImageForDevice
          ? " (this build has no code for this GPU: -DSTAGHORN_CUDA_ARCHITECTURES=all, or its number)"
          : "";
  throw LocalError(ErrorKind::device, std::string(file) + ":" + std::to_string(line) + ": " + call + ": " +
                                          cudaGetErrorString(code) + advice);
}

}  // namespace staghorn::cuda

#define STAGHORN_CUDA_CHECK(call) ::staghorn::cuda::check((call), #call, __FILE__, __LINE__)
// To stand after kernel<<<...>>>(...). An error while the kernel runs shows in a later call.
#define STAGHORN_CUDA_CHECK_LAUNCH(kernel) \
  ::staghorn::cuda::check(cudaGetLastError(), "launch of " #kernel, __FILE__, __LINE__)
