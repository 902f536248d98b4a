#include <algorithm>

#include "dirac/algebra/dispatch.hpp"
#include "dirac/algebra/su3_matrix.hpp"
#include "dirac/fields/cuda_plain_vectors.hpp"
#include "dirac/fields/cuda_words.cuh"
#include "dirac/fields/plain_number.hpp"
#include "dirac/fields/plain_sites.cuh"
#include "dirac/fields/site_combination.hpp"
#include "halo/buffer.hpp"
#include "halo/cuda/cuda_check.hpp"

namespace staghorn::cuda {

namespace {

constexpr int threads = 128;
constexpr unsigned most_blocks = 4096;  // of kernels whose threads go through several sites

unsigned sites_of(const Extents& local) { return unsigned(volume(local)); }  // below 2^32: slots are 31 bits
unsigned blocks_for(std::int64_t items) { return unsigned((items + threads - 1) / threads); }

// What a kernel found, in device memory, zero at first.
template <class Found>
class Answer {
 public:
  Answer() : buffer_(sizeof(Found), MemorySpace::cuda) {}
  Found* place() { return reinterpret_cast<Found*>(buffer_.data()); }
  // Waits for the kernel.
  Found get() {
    Found found;
    STAGHORN_CUDA_CHECK(cudaMemcpy(&found, buffer_.data(), sizeof found, cudaMemcpyDeviceToHost));
    return found;
  }

 private:
  Buffer buffer_;
};

struct Largest {
  unsigned long long bits[2];  // of numbers >= 0, which are ordered like their bits
};

__global__ void __launch_bounds__(threads)
    largest_kernel(const ColorVector<double>* v, unsigned sites, Rows rows, Largest* found) {
  double largest[2] = {0, 0};
  for (unsigned site = blockIdx.x * threads + threadIdx.x; site < sites; site += gridDim.x * threads) {
    const double contribution = norm2(v[site]);
    const bool odd = parity_of(site, rows);
    if (!odd && contribution > largest[0]) largest[0] = contribution;
    if (odd && contribution > largest[1]) largest[1] = contribution;
  }
  __shared__ Largest of_block;
  if (threadIdx.x < 2) of_block.bits[threadIdx.x] = 0;
  __syncthreads();
  for (int parity = 0; parity < 2; ++parity)
    atomicMax(&of_block.bits[parity], (unsigned long long)__double_as_longlong(largest[parity]));
  __syncthreads();
  if (threadIdx.x < 2) atomicMax(&found->bits[threadIdx.x], of_block.bits[threadIdx.x]);
}

// Each sum as units u2 of its grid: high 2^42 + low within a block, high 2^48 + low, 0 <= low < 2^48, outside.
struct Limbs {
  long long high, low;
};
struct Totals {
  Limbs sum[3];  // even, odd, all
  int overflow[3];
};
struct ThreeGrids {
  SumGrid grid[3];
};

// The sum over the lanes of a warp, in lane 0.
__device__ __forceinline__ long long warp_sum(long long value) {
  for (int step = 16; step > 0; step /= 2) value += __shfl_down_sync(~0u, value, step);
  return value;
}

__device__ __forceinline__ void add_to(long long& total, long long share) {
  atomicAdd(reinterpret_cast<unsigned long long*>(&total), (unsigned long long)share);
}

__global__ void __launch_bounds__(threads)
    add_norms_kernel(const ColorVector<double>* v, unsigned sites, Rows rows, ThreeGrids grids, Totals* totals) {
  Totals mine = {};
  double per_u1[3], per_u2[3];  // powers of two
  for (int sum = 0; sum < 3; ++sum) per_u1[sum] = 1 / grids.grid[sum].u1, per_u2[sum] = 1 / grids.grid[sum].u2;
  for (unsigned site = blockIdx.x * threads + threadIdx.x; site < sites; site += gridDim.x * threads) {
    const double contribution = norm2(v[site]);
    const unsigned parity = parity_of(site, rows);
#pragma unroll
    for (int sum = 0; sum < 3; ++sum) {
      if (sum != 2 && sum != int(parity)) continue;
      const SumGrid& grid = grids.grid[sum];
      if (!(contribution <= grid.bound)) {  // also NaN
        mine.overflow[sum] = 1;
        continue;
      }
      const double high = (contribution + grid.round1) - grid.round1;
      const double low = ((contribution - high) + grid.round2) - grid.round2;
      mine.sum[sum].high += (long long)(high * per_u1[sum]);  // an integer up to 2^42
      mine.sum[sum].low += (long long)(low * per_u2[sum]);
    }
  }
  __shared__ Totals of_block;
  if (threadIdx.x == 0) of_block = {};
  __syncthreads();
#pragma unroll
  for (int sum = 0; sum < 3; ++sum) {
    const long long high = warp_sum(mine.sum[sum].high), low = warp_sum(mine.sum[sum].low);
    if (threadIdx.x % 32 == 0) {
      add_to(of_block.sum[sum].high, high);
      add_to(of_block.sum[sum].low, low);
    }
    if (mine.overflow[sum]) of_block.overflow[sum] = 1;
  }
  __syncthreads();
  if (threadIdx.x >= 3) return;
  const Limbs& share = of_block.sum[threadIdx.x];
  const __int128 units = (static_cast<__int128>(share.high) << 42) + share.low;
  add_to(totals->sum[threadIdx.x].high, (long long)(units >> 48));
  add_to(totals->sum[threadIdx.x].low, (long long)units & ((1LL << 48) - 1));
  if (of_block.overflow[threadIdx.x]) totals->overflow[threadIdx.x] = 1;
}

// first: ~index of the lowest site that `is_wanted` says yes to, 0 if there is none.
template <class IsWanted>
__global__ void __launch_bounds__(threads) find_kernel(const ColorVector<double>* v, unsigned sites, Rows rows,
                                                       int parity, IsWanted is_wanted, unsigned* first) {
  const unsigned site = blockIdx.x * threads + threadIdx.x;
  const bool found = site < sites && is_wanted(v[site]) && (parity < 0 || int(parity_of(site, rows)) == parity);
  const unsigned lanes = __ballot_sync(~0u, found);
  if (found && int(threadIdx.x) % 32 == __ffs(int(lanes)) - 1) atomicMax(first, ~site);
}

template <class IsWanted>
std::int64_t find_first(const ColorVector<double>* v, const Extents& local, int parity, const IsWanted& is_wanted) {
  const unsigned sites = sites_of(local);
  Answer<unsigned> answer;
  find_kernel<<<blocks_for(sites), threads>>>(v, sites, rows_of(local), parity, is_wanted, answer.place());
  STAGHORN_CUDA_CHECK_LAUNCH(find_kernel);
  const unsigned first = answer.get();
  return first == 0 ? std::int64_t{sites} : std::int64_t{~first};
}

struct IsNotZero {
  __device__ bool operator()(const ColorVector<double>& v) const {
    bool found = false;
    for (int c = 0; c < 3; ++c) found |= (v.c[c].re != 0) | (v.c[c].im != 0);  // NaN too
    return found;
  }
};
struct IsNotFinite {
  __device__ bool operator()(const ColorVector<double>& v) const {
    bool finite = true;
    for (int c = 0; c < 3; ++c)
      finite &= (fabs(v.c[c].re) <= 0x1.fffffffffffffp1023) & (fabs(v.c[c].im) <= 0x1.fffffffffffffp1023);
    return !finite;
  }
};

// Three threads a site.
__global__ void __launch_bounds__(3 * threads)
    clear_kernel(ColorVector<double>* v, unsigned slots, Rows rows, unsigned parity) {
  const unsigned slot = blockIdx.x * threads + threadIdx.x / 3;
  if (slot < slots) set_plain_number(v[site_of(slot, parity, rows)].c[threadIdx.x % 3], {0, 0});
}

__global__ void __launch_bounds__(threads)
    divide_norms_kernel(ColorVector<double>* r, const ColorVector<double>* x, unsigned sites) {
  const unsigned site = blockIdx.x * threads + threadIdx.x;
  if (site < sites) r[site] = norm_ratio(r[site], x[site]);
}

__global__ void __launch_bounds__(threads)
    combine_kernel(SiteCombination which, ColorVector<double>* y, const ColorVector<double>* a, double s,
                   unsigned sites, Rows rows, int parity) {
  const unsigned site = blockIdx.x * threads + threadIdx.x;
  if (site >= sites || (parity >= 0 && int(parity_of(site, rows)) != parity)) return;
  switch (which) {
    case SiteCombination::plus_multiple:
      y[site] = plus_multiple(y[site], s, a[site]);
      break;
    case SiteCombination::multiple_minus:
      y[site] = multiple_minus(s, a[site], y[site]);
      break;
    case SiteCombination::difference_over:
      y[site] = difference_over(a[site], y[site], s);
      break;
    case SiteCombination::multiple:
      y[site] = multiple(s, a[site]);
      break;
  }
}

template <class Stored>
__global__ void __launch_bounds__(threads) pack_plain_kernel(Stored* field, unsigned V, const ColorVector<double>* v,
                                                             unsigned slots, Rows rows, unsigned parity, double scale) {
  const unsigned slot = blockIdx.x * threads + threadIdx.x;
  if (slot >= slots) return;
  const ColorVector<double> vector = v[site_of(slot, parity, rows)];
  Arithmetic<Stored> reals[6];
#pragma unroll
  for (int c = 0; c < 3; ++c) {
    reals[2 * c] = Arithmetic<Stored>(scale * vector.c[c].re);
    reals[2 * c + 1] = Arithmetic<Stored>(scale * vector.c[c].im);
  }
  store_vector(field, V, slot, reals);
}

// v = field, or v += scale field.
template <class Stored>
__global__ void __launch_bounds__(threads)
    unpack_plain_kernel(const Stored* field, unsigned V, bool add, double scale, ColorVector<double>* v, unsigned slots,
                        Rows rows, unsigned parity) {
  const unsigned slot = blockIdx.x * threads + threadIdx.x;
  if (slot >= slots) return;
  Arithmetic<Stored> reals[6];
  load_vector<Caching::plain>(field, V, slot, reals);
  ColorVector<double>& vector = v[site_of(slot, parity, rows)];
#pragma unroll
  for (int c = 0; c < 3; ++c) {
    const Complex<double> found = {double(reals[2 * c]), double(reals[2 * c + 1])};
    set_plain_number(vector.c[c], add ? plain_number(vector.c[c]) + scale * found : found);
  }
}

void unpack(Precision precision, const void* field, int V, bool add, double scale, ColorVector<double>* v,
            const Extents& local, Parity parity) {
  const unsigned slots = sites_of(local) / 2;
  with_stored(precision, field, [&](const auto* stored) {
    unpack_plain_kernel<<<blocks_for(slots), threads>>>(stored, unsigned(V), add, scale, v, slots, rows_of(local),
                                                        unsigned(parity));
  });
  STAGHORN_CUDA_CHECK_LAUNCH(unpack_plain_kernel);
  STAGHORN_CUDA_CHECK(cudaStreamSynchronize(nullptr));
}

}  // namespace

}  // namespace staghorn::cuda

namespace staghorn {

void cuda_largest_norms2(const ColorVector<double>* v, const Extents& local, double (&largest)[2]) {
  const unsigned sites = cuda::sites_of(local);
  cuda::Answer<cuda::Largest> answer;
  cuda::largest_kernel<<<std::min(cuda::blocks_for(sites), cuda::most_blocks), cuda::threads>>>(
      v, sites, cuda::rows_of(local), answer.place());
  STAGHORN_CUDA_CHECK_LAUNCH(largest_kernel);
  const cuda::Largest found = answer.get();
  for (int parity = 0; parity < 2; ++parity) largest[parity] = __builtin_bit_cast(double, found.bits[parity]);
}

void cuda_add_norms2(const ColorVector<double>* v, const Extents& local, const SumGrid (&grids)[3],
                     ExactPartial (&sums)[3]) {
  const unsigned sites = cuda::sites_of(local);
  cuda::Answer<cuda::Totals> answer;
  cuda::add_norms_kernel<<<std::min(cuda::blocks_for(sites), cuda::most_blocks), cuda::threads>>>(
      v, sites, cuda::rows_of(local), {grids[0], grids[1], grids[2]}, answer.place());
  STAGHORN_CUDA_CHECK_LAUNCH(add_norms_kernel);
  const cuda::Totals found = answer.get();
  for (int sum = 0; sum < 3; ++sum) {
    const __int128 high = found.sum[sum].high;
    sums[sum].merge({high * (std::int64_t{1} << 48) + found.sum[sum].low, found.overflow[sum] != 0});
  }
}

std::int64_t cuda_first_not_zero(const ColorVector<double>* v, const Extents& local, int parity) {
  return cuda::find_first(v, local, parity, cuda::IsNotZero());
}
std::int64_t cuda_first_not_finite(const ColorVector<double>* v, const Extents& local, int parity) {
  return cuda::find_first(v, local, parity, cuda::IsNotFinite());
}

void cuda_clear_parity(ColorVector<double>* v, const Extents& local, Parity parity) {
  const unsigned slots = cuda::sites_of(local) / 2;
  cuda::clear_kernel<<<cuda::blocks_for(slots), 3 * cuda::threads>>>(v, slots, cuda::rows_of(local), unsigned(parity));
  STAGHORN_CUDA_CHECK_LAUNCH(clear_kernel);
  STAGHORN_CUDA_CHECK(cudaStreamSynchronize(nullptr));
}

void cuda_divide_norms(ColorVector<double>* r, const ColorVector<double>* x, const Extents& local) {
  const unsigned sites = cuda::sites_of(local);
  cuda::divide_norms_kernel<<<cuda::blocks_for(sites), cuda::threads>>>(r, x, sites);
  STAGHORN_CUDA_CHECK_LAUNCH(divide_norms_kernel);
  STAGHORN_CUDA_CHECK(cudaStreamSynchronize(nullptr));
}

void cuda_combine(SiteCombination which, ColorVector<double>* y, const ColorVector<double>* a, double s,
                  const Extents& local, int parity) {
  const unsigned sites = cuda::sites_of(local);
  cuda::combine_kernel<<<cuda::blocks_for(sites), cuda::threads>>>(which, y, a, s, sites, cuda::rows_of(local), parity);
  STAGHORN_CUDA_CHECK_LAUNCH(combine_kernel);
  STAGHORN_CUDA_CHECK(cudaStreamSynchronize(nullptr));
}

void cuda_pack_plain(Precision precision, void* field, int V, const ColorVector<double>* v, const Extents& local,
                     Parity parity, double scale) {
  const unsigned slots = cuda::sites_of(local) / 2;
  with_stored(precision, field, [&](auto* stored) {
    cuda::pack_plain_kernel<<<cuda::blocks_for(slots), cuda::threads>>>(stored, unsigned(V), v, slots,
                                                                        cuda::rows_of(local), unsigned(parity), scale);
  });
  STAGHORN_CUDA_CHECK_LAUNCH(pack_plain_kernel);
  STAGHORN_CUDA_CHECK(cudaStreamSynchronize(nullptr));
}

void cuda_unpack_plain(Precision precision, const void* field, int V, ColorVector<double>* v, const Extents& local,
                       Parity parity) {
  cuda::unpack(precision, field, V, false, 1, v, local, parity);
}
void cuda_add_plain(Precision precision, const void* field, int V, double scale, ColorVector<double>* v,
                    const Extents& local, Parity parity) {
  cuda::unpack(precision, field, V, true, scale, v, local, parity);
}

}  // namespace staghorn
