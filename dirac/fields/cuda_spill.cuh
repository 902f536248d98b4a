// Registers: values that are computed where they are needed, and spills to shared memory.
#pragma once

namespace staghorn::cuda {

// Returns the value, and hides from the compiler where it comes from. What depends on it is then computed at this
// place, and not ahead of a loop and kept in registers all along.
__device__ __forceinline__ int computed_here(int value) {
  asm volatile("" : "+r"(value));
  return value;
}

// Returns threadIdx.x, read at this place.
__device__ __forceinline__ int thread_here() {
  int thread;
  asm volatile("mov.u32 %0, %%tid.x;" : "=r"(thread));
  return thread;
}

}  // namespace staghorn::cuda

// The first statement of a kernel without dynamic shared memory: registers are then spilled to shared memory instead of
// local memory (a pragma of PTX, from CUDA 13.0 on). The compiler takes fewer registers, so that more blocks fit; with
// three right-hand sides an iteration of CG is a tenth faster.
#if __CUDACC_VER_MAJOR__ >= 13
#define STAGHORN_SPILL_TO_SHARED_MEMORY asm volatile(".pragma \"enable_smem_spilling\";")
#else
#define STAGHORN_SPILL_TO_SHARED_MEMORY static_cast<void>(0)
#endif
