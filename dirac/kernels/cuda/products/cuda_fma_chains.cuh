// Products of small matrices as chains of fma, by a warp together: c(i, j) = fma(a(i, k), b(k, j), c(i, j)) for k = 0
// to 7 in order, rounded each time. i = 0 to 15, j = 0 to 7.
//
// Lane l holds, with g = l / 4 and t = l % 4,
//
//   a[4] = a(g, t), a(g + 8, t), a(g, t + 4), a(g + 8, t + 4)       b[2] = b(t, g), b(t + 4, g)
//   c[4] = c(g, 2t), c(g, 2t + 1), c(g + 8, 2t), c(g + 8, 2t + 1)
//
// The upper half, i = 0 to 7, has a[2] = a(g, t), a(g, t + 4) and c[2] = c(g, 2t), c(g, 2t + 1).
//
// Tensor cores do this where they round so. NVIDIA does not promise it, so each device is asked once
// (tensor_cores_make_chains). Elsewhere lanes exchange their factors, and the bits are the same.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>

#include "dirac/algebra/su3.hpp"
#include "halo/buffer.hpp"
#include "halo/cuda/cuda_check.hpp"

namespace staghorn::cuda {

enum class ChainBy { shuffles, tensor_cores };

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
__device__ __forceinline__ void add_products_in_tensor_cores(double (&c)[4], const double (&a)[4],
                                                             const double (&b)[2]) {
  asm("mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
      : "+d"(c[0]), "+d"(c[1]), "+d"(c[2]), "+d"(c[3])
      : "d"(a[0]), "d"(a[1]), "d"(a[2]), "d"(a[3]), "d"(b[0]), "d"(b[1]));
}
#elif defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
__device__ __forceinline__ void add_products_in_tensor_cores(double (&c)[4], const double (&a)[4],
                                                             const double (&b)[2]) {
#pragma unroll
  for (int k = 0; k < 2; ++k)
#pragma unroll
    for (int i = 0; i < 2; ++i)
      asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0,%1}, {%2}, {%3}, {%0,%1};"
          : "+d"(c[2 * i]), "+d"(c[2 * i + 1])
          : "d"(a[2 * k + i]), "d"(b[k]));
}
#else
__device__ __forceinline__ void add_products_in_tensor_cores(double (&)[4], const double (&)[4], const double (&)[2]) {
  __trap();  // tensor_cores_make_chains says no
}
#endif

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
__device__ __forceinline__ void add_products_in_tensor_cores(double (&c)[2], const double (&a)[2],
                                                             const double (&b)[2]) {
#pragma unroll
  for (int k = 0; k < 2; ++k)
    asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0,%1}, {%2}, {%3}, {%0,%1};"
        : "+d"(c[0]), "+d"(c[1])
        : "d"(a[k]), "d"(b[k]));
}
#else
__device__ __forceinline__ void add_products_in_tensor_cores(double (&)[2], const double (&)[2], const double (&)[2]) {
  __trap();
}
#endif

// All rows (4 numbers a lane), or the upper half (2). All lanes of the warp must call.
template <ChainBy by, int held>
__device__ __forceinline__ void add_products(double (&c)[held], const double (&a)[held], const double (&b)[2]) {
  if constexpr (by == ChainBy::tensor_cores) return add_products_in_tensor_cores(c, a, b);
  const int lane = int(threadIdx.x) % 32, g = lane / 4, t = lane % 4;
#pragma unroll
  for (int half = 0; half < 2; ++half)
#pragma unroll 1  // for few registers
    for (int k = 0; k < 4; ++k) {
      const double left = __shfl_sync(~0u, b[half], 8 * t + k);
      const double right = __shfl_sync(~0u, b[half], 8 * t + 4 + k);
#pragma unroll
      for (int row = 0; row < held / 2; ++row) {
        const double of_row = __shfl_sync(~0u, a[held / 2 * half + row], 4 * g + k);
        c[2 * row] = multiply_add(of_row, left, c[2 * row]);
        c[2 * row + 1] = multiply_add(of_row, right, c[2 * row + 1]);
      }
    }
}

// A double of mixed bits: of any exponent in every fourth round, else near to 1; a zero, an infinity or a subnormal now
// and then.
__device__ inline double chain_test_number(std::uint64_t seed, bool any_exponent) {
  std::uint64_t z = seed * 0x9E3779B97F4A7C15ull;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
  z ^= z >> 31;
  const unsigned kind = unsigned(z >> 52) % 64;
  if (any_exponent && kind < 6) {
    const double special[] = {0.0, -0.0, 0x1p-1074, -0x1p-1060, 0x1.8p1023, 1e308 * 10};
    return special[kind];
  }
  const std::uint64_t exponent = any_exponent ? 1 + (z >> 52) % 2045 : 1020 + (z >> 52) % 6;
  return __longlong_as_double((long long)((z & 0x800FFFFFFFFFFFFFull) | exponent << 52));
}

// different: how many numbers of the tensor cores differ from chains of fma.
static __global__ void __launch_bounds__(32) chain_test_kernel(unsigned* different) {
  for (int round = 0; round < 64; ++round) {
    const std::uint64_t seed = (std::uint64_t(blockIdx.x) * 64 + unsigned(round)) * 32 + threadIdx.x;
    double a[4], b[2], c[4], upper[2], expected[4];
    for (int k = 0; k < 4; ++k) {
      a[k] = chain_test_number(16 * seed + unsigned(k), round % 4 == 0);
      c[k] = expected[k] = chain_test_number(16 * seed + 4 + unsigned(k), round % 4 == 0);
      if (k < 2) b[k] = chain_test_number(16 * seed + 8 + unsigned(k), round % 4 == 0);
    }
    const double upper_a[2] = {a[0], a[2]};
    for (int k = 0; k < 2; ++k) upper[k] = c[k];
    add_products<ChainBy::tensor_cores>(c, a, b);
    add_products<ChainBy::tensor_cores>(upper, upper_a, b);
    add_products<ChainBy::shuffles>(expected, a, b);
    const auto compare = [&](double found, double wanted) {
      const bool both_nan = found != found && wanted != wanted;
      if (!both_nan && __double_as_longlong(found) != __double_as_longlong(wanted)) atomicAdd(different, 1u);
    };
    for (int k = 0; k < 4; ++k) compare(c[k], expected[k]);
    for (int k = 0; k < 2; ++k) compare(upper[k], expected[k]);
  }
}

// Whether the tensor cores of the selected device round as chains of fma do, in 500,000 numbers. A device is asked
// once. Any thread may call.
inline bool tensor_cores_make_chains() {
  static std::mutex mutex;
  static std::map<int, bool> known;
  int device = 0, major = 0;
  STAGHORN_CUDA_CHECK(cudaGetDevice(&device));
  const std::lock_guard lock(mutex);
  if (const auto found = known.find(device); found != known.end()) return found->second;
  STAGHORN_CUDA_CHECK(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device));
  if (major < 8) return known[device] = false;
  Buffer counter(sizeof(unsigned), MemorySpace::cuda);
  chain_test_kernel<<<64, 32>>>(reinterpret_cast<unsigned*>(counter.data()));
  STAGHORN_CUDA_CHECK_LAUNCH(chain_test_kernel);
  unsigned different = 0;
  STAGHORN_CUDA_CHECK(cudaMemcpy(&different, counter.data(), sizeof different, cudaMemcpyDeviceToHost));
  return known[device] = different == 0;
}

}  // namespace staghorn::cuda
