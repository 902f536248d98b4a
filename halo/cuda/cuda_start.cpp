#include "halo/cuda/cuda_start.hpp"

#include <system_error>

#include "halo/cuda/cuda_device.hpp"
#include "halo/watch/error.hpp"
#ifdef STAGHORN_CUDA
#include "halo/cuda/cuda_check.hpp"
#endif

namespace staghorn::cuda {

#ifdef STAGHORN_CUDA
std::size_t all_bytes(int index) {
  cudaDeviceProp properties;
  STAGHORN_CUDA_CHECK(cudaGetDeviceProperties(&properties, index));
  return properties.totalGlobalMem;
}
#else
std::size_t all_bytes(int) { throw Error(ErrorKind::device, "this build of Staghorn has no CUDA code"); }
#endif

StartBeside::StartBeside(int cuda_device) {
  if (cuda_device < 0) return;
  const auto make = [cuda_device] {
    try {
      select_device(cuda_device);
    } catch (const Error&) {
    }
  };
  try {
    made_ = std::async(std::launch::async, make);
  } catch (const std::system_error&) {  // no thread is to be had: the first use waits
  }
}

StartBeside::~StartBeside() {
  if (made_.valid()) made_.wait();
}

}  // namespace staghorn::cuda
