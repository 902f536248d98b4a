// How long kernels wait for other ranks.
#pragma once

#include <cstdint>

namespace staghorn::cuda {

struct WaitLimits {
  long long nanoseconds;
  const std::uint64_t* called_off;  // of this GPU: waits end once it is not zero; nullptr: there is none
};

}  // namespace staghorn::cuda
