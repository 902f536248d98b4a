// One thread a link. Bytes of a link: 144 read, and of the projection and the factors as many written; of the random
// start 144 written.
#include <algorithm>

#include "dirac/gauge/cuda_links.hpp"
#include "dirac/gauge/link_deviation.hpp"
#include "dirac/gauge/link_update.hpp"
#include "halo/buffer.hpp"
#include "halo/cuda/cuda_check.hpp"

namespace staghorn {

namespace {

using Matrix = ColorMatrix<double>;

constexpr int threads = 128;
constexpr std::int64_t most_blocks = 8192;  // of the kernel whose threads go through several links

unsigned blocks_for(std::int64_t links) { return unsigned((links + threads - 1) / threads); }
std::int64_t count_of(const LinkField& links) { return 4 * links.size(); }
Matrix* first(LinkField& links) { return reinterpret_cast<Matrix*>(links.data()); }

// Numbers >= 0 are ordered like their bits, and this NaN is above all of them.
__device__ __forceinline__ unsigned long long ordered(double value) {
  return value != value ? 0x7ff8000000000000ull : (unsigned long long)__double_as_longlong(value);
}

__global__ void __launch_bounds__(threads)
    deviations_kernel(const Matrix* links, std::int64_t count, unsigned long long* found) {
  double unitarity = 0, determinant = 0;
  for (std::int64_t k = std::int64_t(blockIdx.x) * threads + threadIdx.x; k < count; k += gridDim.x * threads)
    grow_deviations2(links[k], unitarity, determinant);
  __shared__ unsigned long long of_block[2];
  if (threadIdx.x < 2) of_block[threadIdx.x] = 0;
  __syncthreads();
  atomicMax(&of_block[0], ordered(unitarity));
  atomicMax(&of_block[1], ordered(determinant));
  __syncthreads();
  if (threadIdx.x < 2) atomicMax(&found[threadIdx.x], of_block[threadIdx.x]);
}

// Where the sites of this rank lie in the whole lattice.
struct Placing {
  int local[4], origin[4], global[4];

  __device__ __forceinline__ std::uint64_t global_index(std::int64_t site) const {
    std::uint64_t index = 0, stride = 1;
    for (int mu = 0; mu < 4; ++mu) {
      index += stride * std::uint64_t(origin[mu] + site % local[mu]);
      site /= local[mu];
      stride *= std::uint64_t(global[mu]);
    }
    return index;
  }
};

__global__ void __launch_bounds__(threads)
    set_hot_kernel(Matrix* links, std::int64_t count, const __grid_constant__ Placing placing, std::uint64_t seed) {
  const std::int64_t k = std::int64_t(blockIdx.x) * threads + threadIdx.x;
  if (k < count) links[k] = random_link(seed, placing.global_index(k / 4), int(k % 4));
}

__global__ void __launch_bounds__(threads) reunitarize_kernel(Matrix* links, std::int64_t count) {
  const std::int64_t k = std::int64_t(blockIdx.x) * threads + threadIdx.x;
  if (k >= count) return;
  Matrix u = links[k];
  project_su3(u);
  links[k] = u;
}

struct Factors {
  double of[4];
};
__global__ void __launch_bounds__(threads) scale_kernel(Matrix* links, std::int64_t count, Factors factors) {
  const std::int64_t k = std::int64_t(blockIdx.x) * threads + threadIdx.x;
  if (k >= count) return;
  const double factor = factors.of[k % 4];
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) links[k].e[i][j] = {factor * links[k].e[i][j].re, factor * links[k].e[i][j].im};
}

}  // namespace

Deviations2 cuda_largest_deviations2(const LinkField& links) {
  Buffer found(2 * sizeof(std::uint64_t), MemorySpace::cuda);
  const std::int64_t count = count_of(links);
  deviations_kernel<<<unsigned(std::min<std::int64_t>(blocks_for(count), most_blocks)), threads>>>(
      reinterpret_cast<const Matrix*>(links.data()), count, reinterpret_cast<unsigned long long*>(found.data()));
  STAGHORN_CUDA_CHECK_LAUNCH(deviations_kernel);
  double largest[2];
  STAGHORN_CUDA_CHECK(cudaMemcpy(largest, found.data(), sizeof largest, cudaMemcpyDeviceToHost));
  return {largest[0], largest[1]};
}

void cuda_set_hot(LinkField& links, std::uint64_t seed) {
  const Lattice& lattice = links.lattice();
  Placing placing;
  std::copy_n(lattice.local().begin(), 4, placing.local);
  std::copy_n(lattice.origin().begin(), 4, placing.origin);
  std::copy_n(lattice.global().begin(), 4, placing.global);
  set_hot_kernel<<<blocks_for(count_of(links)), threads>>>(first(links), count_of(links), placing, seed);
  STAGHORN_CUDA_CHECK_LAUNCH(set_hot_kernel);
  STAGHORN_CUDA_CHECK(cudaStreamSynchronize(nullptr));
}

void cuda_reunitarize(LinkField& links) {
  reunitarize_kernel<<<blocks_for(count_of(links)), threads>>>(first(links), count_of(links));
  STAGHORN_CUDA_CHECK_LAUNCH(reunitarize_kernel);
  STAGHORN_CUDA_CHECK(cudaStreamSynchronize(nullptr));
}

void cuda_scale_directions(LinkField& links, const std::array<double, 4>& factors) {
  const Factors by_direction = {{factors[0], factors[1], factors[2], factors[3]}};
  scale_kernel<<<blocks_for(count_of(links)), threads>>>(first(links), count_of(links), by_direction);
  STAGHORN_CUDA_CHECK_LAUNCH(scale_kernel);
  STAGHORN_CUDA_CHECK(cudaStreamSynchronize(nullptr));
}

}  // namespace staghorn
