// The GPU that a thread has selected, for the length of a scope.
#pragma once

namespace staghorn::cuda {

// Selects a GPU for this thread, and at the end of the scope the one that was selected before. -1: does nothing. Local.
class DeviceScope {
 public:
  explicit DeviceScope(int cuda_device);
  ~DeviceScope();
  DeviceScope(const DeviceScope&) = delete;
  DeviceScope& operator=(const DeviceScope&) = delete;

 private:
  int before_ = -1;
};

}  // namespace staghorn::cuda
