// Exact sums on the device: the same limbs as LaneSum and ExactPartial, added as integers over blocks.
//
// A block makes one pair of 64-bit atomic additions for each right-hand side, spread over several cells. It carries its
// low limb into the high one before it adds, so that 2^21 blocks cannot overflow the low limb.
#pragma once

#include <type_traits>

#include "dirac/algebra/exact_sum.hpp"

namespace staghorn::cuda {

constexpr int cells_per_sum = 16;  // a block adds to cell blockIdx.x mod 16: no hot address

struct SumCell {
  long long high = 0, low = 0;  // units of u1 and u2
  int overflow = 0, padding = 0;
};

__device__ __forceinline__ double inverse_power_of_two(double x) {
  return __longlong_as_double((2046LL << 52) - __double_as_longlong(x));
}

// A block's share of a sum of numbers >= 0: high >= 0 in units of u1, 0 <= low < 2^42 in units of u2.
struct BlockShare {
  long long high, low;
  bool overflow;
};

__device__ __forceinline__ BlockShare carried(BlockShare share) {
  const long long carry = share.low >> 42;
  share.high += carry;
  share.low -= carry << 42;
  return share;
}

// A thread's share of one sum. It is exact for up to 2048 contributions, since limbs of 2^42 units are added in the 53
// bits of a double. Of up to 64 contributions each, the shares of a warp can be added up as doubles too.
class ThreadSum {
 public:
  static constexpr int max_contributions = 2048, few_contributions = 64;

  // v >= 0
  __device__ __forceinline__ void add(double v, double bound) {
    const double round1 = 0x1.8p10 * bound,
                 round2 = 0x1.8p-32 * bound;  // 1.5 2^52 times u1 = bound 2^-42, u2 = bound 2^-84
    const double h = (v + round1) - round1;
    high_ += h;
    low_ += ((v - h) + round2) - round2;
    fits_ = fits_ && v <= bound;
  }

  __device__ __forceinline__ double high() const { return fits_ ? high_ : 0; }
  __device__ __forceinline__ double low() const { return fits_ ? low_ : 0; }
  __device__ __forceinline__ bool fits() const { return fits_; }

 private:
  double high_ = 0, low_ = 0;
  bool fits_ = true;
};

// Returns, to thread 0, the shares of all threads of the block together. few: no thread has more than
// few_contributions; then only one warp converts to integers. All threads must call.
template <int threads, bool few>
__device__ __forceinline__ BlockShare block_share(const ThreadSum& sum, double bound) {
  using Limb = std::conditional_t<few, double, long long>;
  constexpr int warps = threads / 32;
  const int lane = int(threadIdx.x) % 32, warp = int(threadIdx.x) / 32;
  Limb high, low;
  if constexpr (few) {
    high = sum.high(), low = sum.low();
  } else {
    high = (long long)(sum.high() * inverse_power_of_two(bound * 0x1p-42));
    low = (long long)(sum.low() * inverse_power_of_two(bound * 0x1p-84));
  }
#pragma unroll
  for (int step = 16; step > 0; step /= 2) {
    high += __shfl_down_sync(~0u, high, step);
    low += __shfl_down_sync(~0u, low, step);
  }
  // Before the branch below: nvcc 13.0 copies a reducing barrier that follows one into both its sides.
  const bool overflow = __syncthreads_or(!sum.fits());
  __shared__ Limb warp_high[warps], warp_low[warps];
  if (lane == 0) warp_high[warp] = high, warp_low[warp] = low;
  __syncthreads();
  BlockShare share = {0, 0, overflow};
  if (warp > 0) return share;
  if (lane < warps) {
    if constexpr (few) {
      share.high = (long long)(warp_high[lane] * inverse_power_of_two(bound * 0x1p-42));
      share.low = (long long)(warp_low[lane] * inverse_power_of_two(bound * 0x1p-84));
    } else {
      share.high = warp_high[lane], share.low = warp_low[lane];
    }
  }
#pragma unroll
  for (int step = 16; step > 0; step /= 2) {
    share.high += __shfl_down_sync(~0u, share.high, step);
    share.low += __shfl_down_sync(~0u, share.low, step);
  }
  return carried(share);
}

__device__ __forceinline__ void add_share(SumCell& cell, const BlockShare& share) {
  atomicAdd(reinterpret_cast<unsigned long long*>(&cell.high), (unsigned long long)share.high);
  atomicAdd(reinterpret_cast<unsigned long long*>(&cell.low), (unsigned long long)share.low);
  if (share.overflow) cell.overflow = 1;
}

// Adds the shares of all threads of the block to the sum's cells. A thread may have up to max_contributions. All
// threads must call.
template <int threads>
__device__ __forceinline__ void flush(const ThreadSum& sum, double bound, SumCell* cells) {
  const BlockShare share = block_share<threads, false>(sum, bound);
  if (threadIdx.x != 0) return;
  add_share(cells[blockIdx.x % cells_per_sum], share);
}

// Adds the shares of each `lanes` threads side by side (of each warp where lanes > 32) to a sum of their own. A thread
// may have up to max_contributions. All threads of the warp must call.
template <int lanes>
__device__ inline void flush_lanes(const ThreadSum& sum, double bound, SumCell* cells) {
  constexpr int width = lanes < 32 ? lanes : 32;
  long long high = (long long)(sum.high() * inverse_power_of_two(bound * 0x1p-42)),
            low = (long long)(sum.low() * inverse_power_of_two(bound * 0x1p-84));
  bool overflow = !sum.fits();
#pragma unroll
  for (int step = width / 2; step > 0; step /= 2) {
    high += __shfl_down_sync(~0u, high, step, width);
    low += __shfl_down_sync(~0u, low, step, width);
    overflow |= bool(__shfl_down_sync(~0u, int(overflow), step, width));
  }
  if (threadIdx.x % width != 0) return;
  add_share(cells[(blockIdx.x + threadIdx.x / width) % cells_per_sum], carried({high, low, overflow}));
}

}  // namespace staghorn::cuda
