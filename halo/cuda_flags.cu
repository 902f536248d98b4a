#include "halo/cuda_check.hpp"
#include "halo/cuda_flags.hpp"
#include "halo/cuda_wait.cuh"

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
  __threadfence_system();  // the faces packed by earlier kernels before the flag
  store_release(flags.face[threadIdx.x], round);
}

__global__ void wait_kernel(const FlagPointers flags, std::uint64_t round, long long limit_ns, int* failed) {
  if (!flags.face[threadIdx.x]) return;
  Patience patience(limit_ns);
  while (load_acquire(flags.face[threadIdx.x]) < round)
    if (patience.ended()) {
      *failed = 1;
      return;
    }
}

}  // namespace

void raise_flags(const Flags& flags, std::uint64_t round) {
  raise_kernel<<<1, 8>>>(pointers(flags), round);
  STAGHORN_CUDA_CHECK_LAUNCH(raise_kernel);
}

void wait_for_flags(const Flags& flags, std::uint64_t round, long long limit_ns, int* failed) {
  wait_kernel<<<1, 8>>>(pointers(flags), round, limit_ns, failed);
  STAGHORN_CUDA_CHECK_LAUNCH(wait_kernel);
}

}  // namespace staghorn::cuda
