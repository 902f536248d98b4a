// Exact sums on the device: the same limbs as LaneSum and ExactPartial, added as integers over blocks.
//
// Per block and right-hand side one pair of 64-bit atomics, spread over several cells. A block carries its low limb into
// the high one before it adds, so 2^21 blocks cannot overflow it.
#pragma once

#include "dirac/exact_sum.hpp"

namespace staghorn::cuda {

constexpr int cells_per_sum = 16;  // a block adds to cell blockIdx.x mod 16: no hot address

struct SumCell {
  long long high = 0, low = 0;  // units of u1 and u2
  int overflow = 0, padding = 0;
};

// What a kernel needs to add up one sum: the bound of its grid (a power of two) and its cells.
struct SumTarget {
  double bound;
  SumCell* cells;  // cells_per_sum of them
};

// Adds each thread's contribution v >= 0 (0 for threads without a site). All threads of the block must call.
template <int threads>
__device__ __forceinline__ void add_to_sum(double v, double bound, SumCell* cells) {
  const double u1 = bound * 0x1p-42, u2 = bound * 0x1p-84;
  const double round1 = 0x1.8p52 * u1, round2 = 0x1.8p52 * u2;
  const bool fits = v <= bound;
  const double h = __dsub_rn(__dadd_rn(v, round1), round1);
  const double l = __dsub_rn(__dadd_rn(__dsub_rn(v, h), round2), round2);
  // Multiples of u1 and u2, at most 2^42 of them each: sums of a block are exact as doubles.
  double high = fits ? h : 0, low = fits ? l : 0;
#pragma unroll
  for (int step = 16; step > 0; step /= 2) {
    high += __shfl_down_sync(~0u, high, step);
    low += __shfl_down_sync(~0u, low, step);
  }
  const bool overflow = __syncthreads_or(!fits);
  __shared__ double warp_high[threads / 32], warp_low[threads / 32];
  if (threadIdx.x % 32 == 0) {
    warp_high[threadIdx.x / 32] = high;
    warp_low[threadIdx.x / 32] = low;
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    long long block_high = 0, block_low = 0;
    for (int w = 0; w < threads / 32; ++w) {
      block_high += (long long)(warp_high[w] / u1);
      block_low += (long long)(warp_low[w] / u2);
    }
    const long long carry = block_low >> 42;
    SumCell& cell = cells[blockIdx.x % cells_per_sum];
    atomicAdd(reinterpret_cast<unsigned long long*>(&cell.high), (unsigned long long)(block_high + carry));
    atomicAdd(reinterpret_cast<unsigned long long*>(&cell.low), (unsigned long long)(block_low - (carry << 42)));
    if (overflow) cell.overflow = 1;
  }
  __syncthreads();  // the next sum uses the same shared memory
}

}  // namespace staghorn::cuda
