// Checks the result of a CUDA runtime call: Error with file, line, the call and CUDA's message.
#pragma once

#include <cuda_runtime.h>

#include <string>

#include "halo/error.hpp"

namespace staghorn::cuda {

inline void check(cudaError_t code, const char* call, const char* file, int line) {
  if (code == cudaSuccess) return;
  throw Error(std::string(file) + ":" + std::to_string(line) + ": " + call + ": " + cudaGetErrorString(code));
}

}  // namespace staghorn::cuda

#define STAGHORN_CUDA_CHECK(call) ::staghorn::cuda::check((call), #call, __FILE__, __LINE__)
