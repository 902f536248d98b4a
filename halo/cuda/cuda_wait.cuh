// How a kernel waits for another GPU: loads and stores that keep the order of memory, and a limit on the wait.
#pragma once

#include <cstdint>

#include "halo/cuda/wait_limits.hpp"

namespace staghorn::cuda {

__device__ __forceinline__ void store_release(std::uint64_t* to, std::uint64_t value) {
  asm volatile("st.release.sys.global.u64 [%0], %1;" ::"l"(to), "l"(value) : "memory");
}

__device__ __forceinline__ std::uint64_t load_acquire(const std::uint64_t* from) {
  std::uint64_t value;
  asm volatile("ld.acquire.sys.global.u64 %0, [%1];" : "=l"(value) : "l"(from) : "memory");
  return value;
}

__device__ __forceinline__ void store_relaxed(std::uint64_t* to, std::uint64_t value) {
  asm volatile("st.relaxed.sys.global.u64 [%0], %1;" ::"l"(to), "l"(value) : "memory");
}

__device__ __forceinline__ std::uint64_t load_relaxed(const std::uint64_t* from) {
  std::uint64_t value;
  asm volatile("ld.relaxed.sys.global.u64 %0, [%1];" : "=l"(value) : "l"(from) : "memory");
  return value;
}

// Loads two neighbouring words by one instruction. Each word is loaded as by load_relaxed.
__device__ __forceinline__ void load_relaxed_pair(const std::uint64_t* from, std::uint64_t& first,
                                                  std::uint64_t& second) {
  asm volatile("ld.relaxed.sys.global.v2.u64 {%0, %1}, [%2];" : "=l"(first), "=l"(second) : "l"(from) : "memory");
}

// Adds to a number to which other GPUs may add at the same time.
__device__ __forceinline__ void add_for_all(std::uint64_t* to, std::uint64_t value) {
  asm volatile("red.relaxed.sys.global.add.u64 [%0], %1;" ::"l"(to), "l"(value) : "memory");
}

__device__ __forceinline__ long long nanoseconds() {
  long long time;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(time));
  return time;
}

// The limits of a wait, which must outlive it. It looks at them once in 1024 calls; until then they take no register.
class Patience {
 public:
  __device__ explicit Patience(const WaitLimits& limits) : limits_(limits) {}
  __device__ bool ended() {
    if (++looks_ % 1024 != 0) return false;
    if (limits_.called_off && load_relaxed(limits_.called_off) != 0) return true;
    const long long time = nanoseconds();
    if (start_ == 0) start_ = time;
    return time - start_ > limits_.nanoseconds;
  }

 private:
  const WaitLimits& limits_;
  long long start_ = 0;
  unsigned looks_ = 0;
};

}  // namespace staghorn::cuda
