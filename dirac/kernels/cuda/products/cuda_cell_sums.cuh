// Exact sums of products of cells on a GPU: the limbs of CellSum, added as integers over threads and blocks.
//
// A block brings the shares of its threads together in shared memory and adds each pair's total to global memory as two
// integers, T = high 2^48 + low with 0 <= low < 2^48: 2^15 blocks cannot overflow either.
#pragma once

#include <cstdint>

#include "dirac/kernels/cell_products.hpp"
#include "dirac/kernels/vector_kernels.hpp"

namespace staghorn::cuda {

constexpr int total_bits = 48;

struct CellTotal {
  long long high, low;
};

// A running sum of reals of both signs. The limbs are those of CellSum, as integers: rounding to a grid leaves the
// multiple of its unit in the low bits of the number that was added to.
struct CellLimbs {
  long long high = 0, low = 0;

  __device__ __forceinline__ void add(double v) {
    const double above = v + CellGrid::round1;
    const double below = (v - (above - CellGrid::round1)) + CellGrid::round2;
    high += __double_as_longlong(above) - __double_as_longlong(CellGrid::round1);
    low += __double_as_longlong(below) - __double_as_longlong(CellGrid::round2);
  }
};

// The share of a block: sums of the limbs of its threads, in shared memory, zero at first.
struct CellShare {
  unsigned long long high, low;
};

__device__ __forceinline__ void add_to_share(CellShare& share, const CellLimbs& sum) {
  atomicAdd(&share.high, (unsigned long long)sum.high);
  atomicAdd(&share.low, (unsigned long long)sum.low);
}

// The same for all threads of a warp, which must call together.
__device__ __forceinline__ void add_warp_to_share(CellShare& share, CellLimbs sum) {
#pragma unroll
  for (int step = 16; step > 0; step /= 2) {
    sum.high += __shfl_down_sync(~0u, sum.high, step);
    sum.low += __shfl_down_sync(~0u, sum.low, step);
  }
  if (threadIdx.x % 32 == 0) add_to_share(share, sum);
}

__device__ __forceinline__ void add_share(CellTotal& total, const CellShare& share) {
  const __int128 units = (static_cast<__int128>((long long)share.high) << 42) + (long long)share.low;
  atomicAdd(reinterpret_cast<unsigned long long*>(&total.high), (unsigned long long)(long long)(units >> total_bits));
  atomicAdd(reinterpret_cast<unsigned long long*>(&total.low), (unsigned long long)units & ((1ULL << total_bits) - 1));
}

inline void add_to(ExactPartial& partial, const CellTotal& total) {
  partial.total += static_cast<__int128>(total.high) * (std::int64_t{1} << total_bits) + total.low;
}

// Norms are not negative: their bits without the sign are ordered like the numbers, infinity and NaN above all.
__device__ __forceinline__ unsigned long long norm_bits(double norm2) {
  return (unsigned long long)__double_as_longlong(norm2) & ~(1ULL << 63);
}

// Raises `largest`, in shared memory, to the largest of the warp. All threads of the warp must call.
__device__ __forceinline__ void raise_by_warp(unsigned long long& largest, unsigned long long bits) {
#pragma unroll
  for (int step = 16; step > 0; step /= 2) bits = max(bits, __shfl_down_sync(~0u, bits, step));
  if (threadIdx.x % 32 == 0) atomicMax(&largest, bits);
}

// Whether limbs of such norms mean something.
__device__ __forceinline__ bool fits(unsigned long long bits) {
  return __longlong_as_double((long long)bits) <= CellGrid::most;
}

// What kernels read of the columns of one operand.
struct ColumnList {
  const void* data[2 * max_columns];
  double scale[2 * max_columns];
};

// Where the sites of a cell lie.
struct DeviceCells {
  const std::int32_t* first;  // slot of its first site
  int offset[SiteCells::sites];
  int count;   // cells
  unsigned V;  // lanes of the block
};

}  // namespace staghorn::cuda
