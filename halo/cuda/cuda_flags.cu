#include <algorithm>
#include <string>

#include "halo/cuda/cuda_check.hpp"
#include "halo/cuda/cuda_flags.hpp"
#include "halo/cuda/cuda_wait.cuh"
#include "halo/watch/error.hpp"

namespace staghorn::cuda {

namespace {

struct FlagPointers {
  std::uint64_t* face[8];
};

FlagPointers pointers(const Flags& flags) {
  FlagPointers result;
  for (int face = 0; face < 8; ++face) result.face[face] = flags[face];
  return result;
}

__global__ void raise_kernel(const FlagPointers flags, std::uint64_t round) {
  if (!flags.face[threadIdx.x]) return;
  __threadfence_system();  // faces packed by earlier kernels become visible before the flag
  store_release(flags.face[threadIdx.x], round);
}

__global__ void wait_kernel(const FlagPointers flags, std::uint64_t round, const WaitLimits limits, int* failed) {
  if (!flags.face[threadIdx.x]) return;
  Patience patience(limits);
  while (load_acquire(flags.face[threadIdx.x]) < round)
    if (patience.ended()) {
      *failed = 1;
      return;
    }
}

constexpr int adding_blocks = 16, adding_threads = 256, additions = 16;  // of a thread

struct Counters {
  std::uint64_t* counter[max_counters];
  int count;
};

__global__ void add_kernel(const Counters all) {
  for (int k = 0; k < additions * all.count; ++k) add_for_all(all.counter[k % all.count], 1);
}

}  // namespace

std::uint64_t add_to_counters(const std::vector<std::uint64_t*>& counters) {
  if (counters.size() > std::size_t(max_counters))
    throw Error("counters", "at most " + std::to_string(max_counters), counters.size());
  Counters all = {{}, int(counters.size())};
  std::copy(counters.begin(), counters.end(), all.counter);
  add_kernel<<<adding_blocks, adding_threads>>>(all);
  STAGHORN_CUDA_CHECK_LAUNCH(add_kernel);
  return std::uint64_t{adding_blocks} * adding_threads * additions;
}

void raise_flags(const Flags& flags, std::uint64_t round) {
  raise_kernel<<<1, 8>>>(pointers(flags), round);
  STAGHORN_CUDA_CHECK_LAUNCH(raise_kernel);
}

void wait_for_flags(const Flags& flags, std::uint64_t round, const WaitLimits& limits, int* failed) {
  wait_kernel<<<1, 8>>>(pointers(flags), round, limits, failed);
  STAGHORN_CUDA_CHECK_LAUNCH(wait_kernel);
}

}  // namespace staghorn::cuda
