// Registers: what finds none, and what need not keep any.
#pragma once

namespace staghorn::cuda {

// The value itself, of which the compiler does not know where it comes from: what is computed from it is computed here,
// not ahead of a loop and kept in registers all along.
__device__ __forceinline__ int computed_here(int value) {
  asm volatile("" : "+r"(value));
  return value;
}

// threadIdx.x, asked for here.
__device__ __forceinline__ int thread_here() {
  int thread;
  asm volatile("mov.u32 %0, %%tid.x;" : "=r"(thread));
  return thread;
}

}  // namespace staghorn::cuda

// First in a kernel without dynamic shared memory: what is spilled goes to shared memory, not to local memory (a pragma
// of PTX, from CUDA 13.0 on). The compiler takes fewer registers then, so that more blocks fit: one H200, 32^3x64,
// three right-hand sides, an iteration of CG with 12 reals in fp64 956 us without it, 848 with it, in fp32 472 and 431.
#if __CUDACC_VER_MAJOR__ >= 13
#define STAGHORN_SPILL_TO_SHARED_MEMORY asm volatile(".pragma \"enable_smem_spilling\";")
#else
#define STAGHORN_SPILL_TO_SHARED_MEMORY static_cast<void>(0)
#endif
