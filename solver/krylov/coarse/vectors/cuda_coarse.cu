// Products of a block in the order of dense_products.cpp: eight threads for the eight partial sums of a dot product,
// one thread for each row of a product with columns.
#include <algorithm>

#include "dirac/fields/vector_shape.hpp"
#include "halo/cuda/cuda_check.hpp"
#include "solver/krylov/coarse/vectors/cuda_coarse.hpp"

namespace staghorn {

namespace {

constexpr int threads = 256, groups = threads / lane_step, most_vectors = 128;
constexpr unsigned most_chunks = 32;  // of the blocks of a sum

unsigned blocks_for(std::int64_t items) { return unsigned((items + threads - 1) / threads); }

// (a, b) on a block, by eight threads: each has both parts. `b(i)` is number i of b.
template <class Numbers>
__device__ __forceinline__ Complex<double> dot_of_lanes(const double* a, std::int64_t width, const Numbers& b) {
  double re = 0, im = 0;
  for (std::int64_t i = threadIdx.x % lane_step; i < width; i += lane_step) {
    const double a_re = a[i], a_im = a[width + i];
    const Complex<double> of_b = b(i);
    re = fma(a_im, of_b.im, fma(a_re, of_b.re, re));
    im = fma(-a_im, of_b.re, fma(a_re, of_b.im, im));
  }
#pragma unroll
  for (int step = lane_step / 2; step > 0; step /= 2) {
    re += __shfl_xor_sync(~0u, re, step, lane_step);
    im += __shfl_xor_sync(~0u, im, step, lane_step);
  }
  return {re, im};
}

struct DotsOf {
  const double* a[most_vectors];
  std::uint8_t columns[most_vectors];  // right-hand sides of each
  const double* b;
  int n_rhs;
  std::int64_t blocks, width;
};

// Calls take(value) in two threads of each eight for the blocks of this thread: for the real and for the imaginary
// part of product blockIdx.y.
template <class Take>
__device__ __forceinline__ void for_my_parts(const DotsOf& dots, const Take& take) {
  const int k = int(blockIdx.y) / dots.n_rhs, rhs = int(blockIdx.y) % dots.n_rhs;
  const int columns = dots.columns[k], column = columns == 1 ? 0 : rhs, lane = int(threadIdx.x) % lane_step;
  for (std::int64_t first = std::int64_t{blockIdx.x} * groups; first < dots.blocks;
       first += std::int64_t{gridDim.x} * groups) {
    const std::int64_t mine = first + threadIdx.x / lane_step, block = mine < dots.blocks ? mine : 0;
    const double* const b = dots.b + (block * dots.n_rhs + rhs) * 2 * dots.width;
    const Complex<double> product =
        dot_of_lanes(dots.a[k] + (block * columns + column) * 2 * dots.width, dots.width, [&](std::int64_t i) {
          return Complex<double>{b[i], b[dots.width + i]};
        });
    if (mine < dots.blocks && lane < 2) take(lane == 0 ? product.re : product.im);
  }
}

// largest: bits of numbers >= 0, which are ordered like the numbers; passes over NaN.
__global__ void __launch_bounds__(threads)
    largest_kernel(const __grid_constant__ DotsOf dots, unsigned long long* largest) {
  double mine = 0;
  for_my_parts(dots, [&](double value) {
    if (fabs(value) > mine) mine = fabs(value);
  });
  if (threadIdx.x % lane_step < 2)
    atomicMax(&largest[2 * blockIdx.y + threadIdx.x % lane_step], (unsigned long long)__double_as_longlong(mine));
}

struct Limbs {
  long long high, low;  // in units u1 and u2 of the grid: of at most 2^20 numbers
  int overflow, padding;
};

__device__ __forceinline__ void add_to(Limbs& sum, const Limbs& share) {
  atomicAdd(reinterpret_cast<unsigned long long*>(&sum.high), (unsigned long long)share.high);
  atomicAdd(reinterpret_cast<unsigned long long*>(&sum.low), (unsigned long long)share.low);
  if (share.overflow) sum.overflow = 1;
}

__global__ void __launch_bounds__(threads)
    sums_kernel(const __grid_constant__ DotsOf dots, const SumGrid* grids, Limbs* sums) {
  const int part = int(threadIdx.x) % lane_step;
  const SumGrid grid = grids[2 * blockIdx.y + (part < 2 ? part : 0)];
  const double per_u1 = 1 / grid.u1, per_u2 = 1 / grid.u2;  // powers of two
  Limbs mine{};
  for_my_parts(dots, [&](double value) {
    if (!(fabs(value) <= grid.bound)) {  // also NaN
      mine.overflow = 1;
      return;
    }
    const double high = (value + grid.round1) - grid.round1;
    const double low = ((value - high) + grid.round2) - grid.round2;
    mine.high += (long long)(high * per_u1);
    mine.low += (long long)(low * per_u2);
  });
  __shared__ Limbs of_block[2];
  if (threadIdx.x < 2) of_block[threadIdx.x] = {};
  __syncthreads();
  if (part < 2) add_to(of_block[part], mine);
  __syncthreads();
  if (threadIdx.x < 2) add_to(sums[2 * blockIdx.y + threadIdx.x], of_block[threadIdx.x]);
}

// Calls launch(dots, vectors, first product) for at most most_vectors vectors at a time.
template <class Launch>
void for_lists(std::span<const CoarseVector* const> a, const CoarseVector& b, const Launch& launch) {
  for (std::size_t first = 0; first < a.size(); first += most_vectors) {
    DotsOf dots{};
    const std::size_t n = std::min(a.size() - first, std::size_t{most_vectors});
    for (std::size_t k = 0; k < n; ++k) {
      dots.a[k] = a[first + k]->at(0, 0);
      dots.columns[k] = std::uint8_t(a[first + k]->n_rhs);
    }
    dots.b = b.at(0, 0);
    dots.n_rhs = b.n_rhs;
    dots.blocks = b.blocks;
    dots.width = b.width;
    const auto chunks = unsigned((b.blocks + groups - 1) / groups);
    launch(dots, dim3(std::min(chunks, most_chunks), unsigned(n * std::size_t(b.n_rhs))),
           2 * first * std::size_t(b.n_rhs));
  }
}

struct Factors {
  Complex<double> of[max_rhs];
};

__device__ __forceinline__ void add_product(double f_re, double f_im, double w_re, double w_im, double& re,
                                            double& im) {
  re = fma(-f_im, w_im, fma(f_re, w_re, re));
  im = fma(f_im, w_re, fma(f_re, w_im, im));
}

// What a thread has of [block][right-hand side][row].
struct Place {
  __device__ Place(std::int64_t item, int n_rhs, std::int64_t width)
      : row(item % width), rhs(int(item / width % n_rhs)), block(item / width / n_rhs) {}
  std::int64_t row;
  int rhs;
  std::int64_t block;
};

__device__ __forceinline__ std::int64_t my_item() { return std::int64_t{blockIdx.x} * threads + threadIdx.x; }

__global__ void __launch_bounds__(threads)
    add_scaled_kernel(const __grid_constant__ Factors factors, const double* w, int w_columns, double own, double* v,
                      int n_rhs, std::int64_t width, std::int64_t items) {
  if (my_item() >= items) return;
  const Place place(my_item(), n_rhs, width);
  const double* const from = w + (place.block * w_columns + (w_columns == 1 ? 0 : place.rhs)) * 2 * width + place.row;
  double* const to = v + (place.block * n_rhs + place.rhs) * 2 * width + place.row;
  const Complex<double> f = factors.of[place.rhs];
  double re = own * to[0], im = own * to[width];
  add_product(f.re, f.im, from[0], from[width], re, im);
  to[0] = re;
  to[width] = im;
}

struct Directions {
  const double* u[most_vectors];
  double beta[max_rhs];
  std::uint8_t active[max_rhs];
};

__global__ void __launch_bounds__(threads)
    next_direction_kernel(const __grid_constant__ Directions next, const Complex<double>* c, int n_vectors, bool begins,
                          const double* r, double* p, int n_rhs, std::int64_t width, std::int64_t items) {
  if (my_item() >= items) return;
  const Place place(my_item(), n_rhs, width);
  if (!next.active[place.rhs]) return;
  const std::int64_t at = (place.block * n_rhs + place.rhs) * 2 * width + place.row,
                     at_u = place.block * 2 * width + place.row;
  double re = p[at], im = p[at + width];
  if (begins) {
    re = fma(next.beta[place.rhs], re, r[at]);
    im = fma(next.beta[place.rhs], im, r[at + width]);
  }
  for (int i = 0; i < n_vectors; ++i) {
    const Complex<double> f = c[i * n_rhs + place.rhs];
    add_product(f.re, f.im, next.u[i][at_u], next.u[i][at_u + width], re, im);
  }
  p[at] = re;
  p[at + width] = im;
}

// A thread for each row of a block, for R right-hand sides from `in` and `out` on.
template <int R>
__global__ void __launch_bounds__(threads)
    apply_kernel(CudaMatrix matrix, int n, std::int64_t width, std::int64_t blocks, const double* in,
                 const double* ghosts, double* out, std::int64_t stride) {
  const std::int64_t block = my_item() / width, row = my_item() % width;
  if (block >= blocks) return;
  double re[R] = {}, im[R] = {};
  const float* e = matrix.numbers + block * matrix.pairs * 2 * width * n + row;
  for (int pair = 0; pair < matrix.pairs; ++pair) {
    const std::int64_t from = matrix.neighbours[block * matrix.pairs + pair];
    const double* const v = from < blocks ? in + from * stride : ghosts + (from - blocks) * stride;
#pragma unroll 8
    for (int j = 0; j < n; ++j, e += 2 * width) {
      const double e_re = __ldcs(e), e_im = __ldcs(e + width);
#pragma unroll
      for (int k = 0; k < R; ++k)
        add_product(e_re, e_im, v[k * 2 * width + j], v[k * 2 * width + width + j], re[k], im[k]);
    }
  }
#pragma unroll
  for (int k = 0; k < R; ++k) {
    double* const to = out + block * stride + k * 2 * width + row;
    to[0] = re[k];
    to[width] = im[k];
  }
}

__device__ __forceinline__ const Complex<double>& number_of(const CudaBasis& basis, const ColorVector<double>* v,
                                                            std::int64_t block, std::int64_t i) {
  return v[basis.origins[block] + basis.offsets[i / 3]].c[i % 3];
}

__global__ void __launch_bounds__(threads) restrict_kernel(CudaBasis basis, const ColorVector<double>* v, double* c,
                                                           std::int64_t c_width, std::int64_t c_stride) {
  const std::int64_t block = blockIdx.x;
  for (int first = 0; first < basis.n; first += groups) {
    const int mine = first + int(threadIdx.x) / lane_step, j = mine < basis.n ? mine : 0;
    const Complex<double> product =
        dot_of_lanes(basis.numbers + (block * basis.n + j) * 2 * basis.width, basis.width, [&](std::int64_t i) {
          return i < 3 * basis.sites ? number_of(basis, v, block, i) : Complex<double>{0, 0};
        });
    if (mine < basis.n && threadIdx.x % lane_step == 0) {
      c[block * c_stride + j] = product.re;
      c[block * c_stride + c_width + j] = product.im;
    }
  }
}

__global__ void __launch_bounds__(threads) prolong_kernel(CudaBasis basis, const double* c, std::int64_t c_width,
                                                          std::int64_t c_stride, ColorVector<double>* v) {
  const std::int64_t block = blockIdx.x;
  const double* const of_block = c + block * c_stride;
  for (std::int64_t i = threadIdx.x; i < 3 * basis.sites; i += threads) {
    const double* column = basis.numbers + block * basis.n * 2 * basis.width + i;
    double re = 0, im = 0;
    for (int j = 0; j < basis.n; ++j, column += 2 * basis.width) {
      // out += column_j c_j, as add_columns has it
      re = fma(-column[basis.width], of_block[c_width + j], fma(column[0], of_block[j], re));
      im = fma(column[basis.width], of_block[j], fma(column[0], of_block[c_width + j], im));
    }
    v[basis.origins[block] + basis.offsets[i / 3]].c[i % 3] = {re, im};
  }
}

}  // namespace

std::vector<double> cuda_largest(const CoarseSums& sums, std::span<const CoarseVector* const> a,
                                 const CoarseVector& b) {
  std::vector<double> largest(2 * a.size() * std::size_t(b.n_rhs));
  auto* const found = reinterpret_cast<unsigned long long*>(sums.room(largest.size() * sizeof(double)));
  STAGHORN_CUDA_CHECK(cudaMemsetAsync(found, 0, largest.size() * sizeof(double)));
  for_lists(a, b, [&](const DotsOf& dots, dim3 grid, std::size_t first) {
    largest_kernel<<<grid, threads>>>(dots, found + first);
    STAGHORN_CUDA_CHECK_LAUNCH(largest_kernel);
  });
  STAGHORN_CUDA_CHECK(cudaMemcpy(largest.data(), found, largest.size() * sizeof(double), cudaMemcpyDeviceToHost));
  return largest;
}

std::vector<ExactPartial> cuda_sums(const CoarseSums& sums, std::span<const CoarseVector* const> a,
                                    const CoarseVector& b, std::span<const SumGrid> grids) {
  const std::size_t n = grids.size();
  std::byte* const room = sums.room(n * (sizeof(Limbs) + sizeof(SumGrid)));
  auto* const found = reinterpret_cast<Limbs*>(room);
  auto* const of_sums = reinterpret_cast<SumGrid*>(room + n * sizeof(Limbs));
  STAGHORN_CUDA_CHECK(cudaMemsetAsync(found, 0, n * sizeof(Limbs)));
  STAGHORN_CUDA_CHECK(cudaMemcpyAsync(of_sums, grids.data(), n * sizeof(SumGrid), cudaMemcpyHostToDevice));
  for_lists(a, b, [&](const DotsOf& dots, dim3 grid, std::size_t first) {
    sums_kernel<<<grid, threads>>>(dots, of_sums + first, found + first);
    STAGHORN_CUDA_CHECK_LAUNCH(sums_kernel);
  });
  std::vector<Limbs> limbs(n);
  STAGHORN_CUDA_CHECK(cudaMemcpy(limbs.data(), found, n * sizeof(Limbs), cudaMemcpyDeviceToHost));
  std::vector<ExactPartial> partials;
  for (const Limbs& sum : limbs)
    partials.push_back({(static_cast<__int128>(sum.high) << 42) + sum.low, sum.overflow != 0});
  return partials;
}

void cuda_add_scaled(std::span<const Complex<double>> factor, const CoarseVector& w, CoarseVector& v, double own) {
  Factors factors{};
  std::copy_n(factor.begin(), v.n_rhs, factors.of);
  const std::int64_t items = v.blocks * v.n_rhs * v.width;
  add_scaled_kernel<<<blocks_for(items), threads>>>(factors, w.at(0, 0), w.n_rhs, own, v.at(0, 0), v.n_rhs, v.width,
                                                    items);
  STAGHORN_CUDA_CHECK_LAUNCH(add_scaled_kernel);
}

void cuda_next_direction(const CoarseSums& sums, const CoarseVector& r, std::span<const CoarseVector> u,
                         std::span<const Complex<double>> c, std::span<const double> beta, std::span<const char> active,
                         CoarseVector& p) {
  auto* const coefficients = reinterpret_cast<Complex<double>*>(sums.room((c.size() + 1) * sizeof(Complex<double>)));
  STAGHORN_CUDA_CHECK(cudaMemcpyAsync(coefficients, c.data(), c.size_bytes(), cudaMemcpyHostToDevice));
  const std::int64_t items = p.blocks * p.n_rhs * p.width;
  for (std::size_t first = 0; first == 0 || first < u.size(); first += most_vectors) {
    Directions next{};
    const std::size_t n = std::min(u.size() - first, std::size_t{most_vectors});
    for (std::size_t i = 0; i < n; ++i) next.u[i] = u[first + i].at(0, 0);
    std::copy_n(beta.begin(), p.n_rhs, next.beta);
    std::copy_n(active.begin(), p.n_rhs, next.active);
    next_direction_kernel<<<blocks_for(items), threads>>>(next, coefficients + first * std::size_t(p.n_rhs), int(n),
                                                          first == 0, r.at(0, 0), p.at(0, 0), p.n_rhs, p.width, items);
    STAGHORN_CUDA_CHECK_LAUNCH(next_direction_kernel);
  }
}

void cuda_apply_matrix(const CudaMatrix& matrix, const CoarseVector& in, const double* ghosts, CoarseVector& out) {
  const std::int64_t stride = in.n_rhs * 2 * in.width;
  const unsigned blocks = blocks_for(in.blocks * in.width);
  for (int rhs = 0; rhs < in.n_rhs;) {
    const auto launch = [&](auto kernel, int columns) {
      const std::int64_t first = rhs * 2 * in.width;
      kernel<<<blocks, threads>>>(matrix, in.n, in.width, in.blocks, in.at(0, 0) + first,
                                  ghosts ? ghosts + first : nullptr, out.at(0, 0) + first, stride);
      STAGHORN_CUDA_CHECK_LAUNCH(apply_kernel);
      rhs += columns;
    };
    const int left = in.n_rhs - rhs;
    if (left >= 8)
      launch(apply_kernel<8>, 8);
    else if (left >= 4)
      launch(apply_kernel<4>, 4);
    else if (left >= 2)
      launch(apply_kernel<2>, 2);
    else
      launch(apply_kernel<1>, 1);
  }
}

void cuda_restrict(const CudaBasis& basis, const ColorVector<double>* v, CoarseVector& c, int rhs) {
  restrict_kernel<<<unsigned(basis.blocks), threads>>>(basis, v, c.at(0, rhs), c.width, c.n_rhs * 2 * c.width);
  STAGHORN_CUDA_CHECK_LAUNCH(restrict_kernel);
}

void cuda_prolong(const CudaBasis& basis, const CoarseVector& c, int rhs, ColorVector<double>* v) {
  prolong_kernel<<<unsigned(basis.blocks), threads>>>(basis, c.at(0, rhs), c.width, c.n_rhs * 2 * c.width, v);
  STAGHORN_CUDA_CHECK_LAUNCH(prolong_kernel);
  STAGHORN_CUDA_CHECK(cudaStreamSynchronize(nullptr));
}

}  // namespace staghorn
