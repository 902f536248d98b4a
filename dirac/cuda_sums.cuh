// Exact sums on the device: the same limbs as LaneSum and ExactPartial, added as integers over blocks.
//
// Per block and right-hand side one pair of 64-bit atomics, spread over several cells. A block carries its low limb
// into the high one before it adds, so 2^21 blocks cannot overflow it.
#pragma once

#include <algorithm>
#include <map>
#include <mutex>
#include <tuple>

#include "dirac/exact_sum.hpp"
#include "halo/cuda_check.hpp"

namespace staghorn::cuda {

constexpr int cells_per_sum = 16;  // a block adds to cell blockIdx.x mod 16: no hot address

struct SumCell {
  long long high = 0, low = 0;  // units of u1 and u2
  int overflow = 0, padding = 0;
};

__device__ __forceinline__ double inverse_power_of_two(double x) {
  return __longlong_as_double((2046LL << 52) - __double_as_longlong(x));
}

// A thread's share of one sum: exact as long as it adds at most 64 contributions (max_contributions), since a warp's
// worth of limbs, 2^42 units each, still fits the 53 bits of a double.
class ThreadSum {
 public:
  static constexpr int max_contributions = 64;

  // v >= 0
  __device__ __forceinline__ void add(double v, double bound) {
    const double round1 = 0x1.8p10 * bound,
                 round2 = 0x1.8p-32 * bound;  // 1.5 2^52 times u1 = bound 2^-42, u2 = bound 2^-84
    const double h = (v + round1) - round1;
    high_ += h;
    low_ += ((v - h) + round2) - round2;
    fits_ = fits_ && v <= bound;
  }

  // Adds the shares of all threads of the block to the sum's cells. All threads must call.
  template <int threads>
  __device__ __forceinline__ void flush(double bound, SumCell* cells) {
    double high = fits_ ? high_ : 0, low = fits_ ? low_ : 0;
#pragma unroll
    for (int step = 16; step > 0; step /= 2) {
      high += __shfl_down_sync(~0u, high, step);
      low += __shfl_down_sync(~0u, low, step);
    }
    // Before the branch below: nvcc 13.0 copies a reducing barrier that follows one into both its sides.
    const bool overflow = __syncthreads_or(!fits_);
    __shared__ double warp_high[threads / 32], warp_low[threads / 32];
    if (threadIdx.x % 32 == 0) {
      warp_high[threadIdx.x / 32] = high;
      warp_low[threadIdx.x / 32] = low;
    }
    __syncthreads();
    if (threadIdx.x == 0) {
      const double per_u1 = inverse_power_of_two(bound * 0x1p-42), per_u2 = inverse_power_of_two(bound * 0x1p-84);
      long long block_high = 0, block_low = 0;
#pragma unroll
      for (int w = 0; w < threads / 32; ++w) {
        block_high += (long long)(warp_high[w] * per_u1);
        block_low += (long long)(warp_low[w] * per_u2);
      }
      const long long carry = block_low >> 42;
      SumCell& cell = cells[blockIdx.x % cells_per_sum];
      atomicAdd(reinterpret_cast<unsigned long long*>(&cell.high), (unsigned long long)(block_high + carry));
      atomicAdd(reinterpret_cast<unsigned long long*>(&cell.low), (unsigned long long)(block_low - (carry << 42)));
      if (overflow) cell.overflow = 1;
    }
    __syncthreads();  // the next sum uses the same shared memory
  }

 private:
  double high_ = 0, low_ = 0;
  bool fits_ = true;
};

// Blocks of `threads` that the selected device holds at once. CUDA is asked once for each kernel and device: its answer
// takes microseconds, and the host may be all that a GPU waits for. By any thread.
inline int resident_blocks(const void* kernel, int threads) {
  static std::mutex mutex;
  static std::map<std::tuple<const void*, int, int>, int> known;
  int device = 0;
  STAGHORN_CUDA_CHECK(cudaGetDevice(&device));
  const std::tuple key(kernel, threads, device);
  const std::lock_guard lock(mutex);
  if (const auto found = known.find(key); found != known.end()) return found->second;
  int processors = 0, per_processor = 0;
  STAGHORN_CUDA_CHECK(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device));
  STAGHORN_CUDA_CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per_processor, kernel, threads, 0));
  return known[key] = processors * per_processor;
}

// Blocks for `chunks` pieces of work of one block each: by default one wave, so that the end of a block (its sums, its
// ticket) is amortised, or more where a thread's sums would not stay exact. (32^3x64 on one H200, microseconds an
// iteration with 1, 2, 4 and 8 waves: fp64 12 reals 531, 541, 538, 542; fp32 12 reals 279, 286, 298, 315.)
template <class Kernel>
int grid_size(Kernel kernel, int threads, int chunks, int waves) {
  const int wanted = resident_blocks(reinterpret_cast<const void*>(kernel), threads) * waves;
  const int least = (chunks + ThreadSum::max_contributions - 1) / ThreadSum::max_contributions;
  return std::min(chunks, std::max(wanted, least));
}

}  // namespace staghorn::cuda
