#include "halo/cuda/device_scope.hpp"

#include "halo/cuda/cuda_device.hpp"
#include "halo/watch/error.hpp"

namespace staghorn::cuda {

DeviceScope::DeviceScope(int cuda_device) {
  if (cuda_device < 0) return;
  before_ = selected_device();
  select_device(cuda_device);
}

DeviceScope::~DeviceScope() {
  if (before_ < 0) return;
  try {
    select_device(before_);
  } catch (const Error&) {  // the device is lost: the host's next call of CUDA says so
  }
}

}  // namespace staghorn::cuda
