// The hop on the device: one thread a site and tile of right-hand sides, neighbours by arithmetic, links streamed past
// the caches, and the line of CG that uses the hop fused to it. A Finish runs in the last block of the grid, when every
// sum is complete: CG's scalars are computed there (solver/), nothing by default.
#pragma once

#include "dirac/cuda_fields.cuh"
#include "dirac/cuda_sums.cuh"
#include "dirac/hop_kernel.hpp"
#include "dirac/kernels.hpp"

namespace staghorn::cuda {

constexpr int hop_threads = 128;
constexpr int update_threads = 256;

struct HopArguments {
  const void *links_here, *links_there, *in, *p;
  void* out;
  int extents[4];
  int target;  // parity, 0 or 1
  int sites;   // per parity
  int n_rhs;
  bool antiperiodic[4], phase[4];
  double cosine[4], sine[4];
  double four_m2;
  const double* alpha;  // per right-hand side, on the device
  const double* bound;  // of the sums, per right-hand side; nullptr: no sums
  SumCell* cells;       // cells_per_sum for each right-hand side
};

// done(): nothing is left to do for this kernel;  ():  called by all threads of every block when its sums are added.
struct NoFinish {
  __device__ bool done() const { return false; }
  __device__ void operator()() const {}
};

template <class Real, int Reals>
struct CudaAccess {
  const HopArguments& a;
  int site, first_rhs;
  int x[4];
  int half_row;  // sites of the target parity in a row of x
  int odd_row;   // x[0] = 2 (site mod half_row) + odd_row

  __device__ CudaAccess(const HopArguments& arguments, int site, int first_rhs)
      : a(arguments), site(site), first_rhs(first_rhs), half_row(arguments.extents[0] / 2) {
    int rest = site;
    const int half_x = rest % half_row;
    rest /= half_row;
    x[1] = rest % a.extents[1];
    rest /= a.extents[1];
    x[2] = rest % a.extents[2];
    x[3] = rest / a.extents[2];
    odd_row = (x[1] + x[2] + x[3] + a.target) & 1;
    x[0] = 2 * half_x + odd_row;
  }

  __device__ __forceinline__ bool at_edge(int mu, bool forward) const {
    return x[mu] == (forward ? a.extents[mu] - 1 : 0);
  }

  // The neighbour's index among the sites of its parity.
  __device__ __forceinline__ int neighbour(int mu, bool forward) const {
    if (mu == 0) {
      if (forward) return odd_row == 0 ? site : at_edge(0, true) ? site - (half_row - 1) : site + 1;
      return odd_row == 1 ? site : at_edge(0, false) ? site + (half_row - 1) : site - 1;
    }
    int stride = half_row;
    for (int nu = 1; nu < mu; ++nu) stride *= a.extents[nu];
    const int around = stride * (a.extents[mu] - 1);
    if (forward) return at_edge(mu, true) ? site - around : site + stride;
    return at_edge(mu, false) ? site + around : site - stride;
  }

  __device__ __forceinline__ ColorMatrix<Real> load_link(const void* links, int mu, int lane) const {
    Real reals[Reals];
    load_object<Reals, Caching::streaming>(static_cast<const Real*>(links) + (long long)mu * Reals * a.sites, a.sites,
                                           lane, reals);
    ColorMatrix<Real> u;
#pragma unroll
    for (int k = 0; k < Reals / 2; ++k) u.e[k / 3][k % 3] = {reals[2 * k], reals[2 * k + 1]};
    if constexpr (Reals == 12) complete_third_row(u);
    return u;
  }

  __device__ __forceinline__ ColorMatrix<Real> link_here(int mu) const { return load_link(a.links_here, mu, site); }
  __device__ __forceinline__ ColorMatrix<Real> link_behind(int mu) const {
    return load_link(a.links_there, mu, neighbour(mu, false));
  }

  __device__ __forceinline__ ColorVector<Real> vector(int mu, bool forward, int r) const {
    Real reals[6];
    load_object<6, Caching::read_only>(static_cast<const Real*>(a.in) + (long long)(first_rhs + r) * 6 * a.sites,
                                       a.sites, neighbour(mu, forward), reals);
    int exponent = 0;  // eta_mu(x) = (-1)^exponent
    for (int nu = 0; nu < mu; ++nu) exponent += x[nu];
    const bool crosses = at_edge(mu, forward);
    const bool negative = (exponent & 1) ^ (crosses && a.antiperiodic[mu]);
    const Real sign = negative ? Real(-1) : Real(1);
#pragma unroll
    for (int k = 0; k < 6; ++k) reals[k] *= sign;
    if (a.phase[mu] && crosses) {
      const Real cosine = Real(a.cosine[mu]), sine = Real(forward ? a.sine[mu] : -a.sine[mu]);
#pragma unroll
      for (int c = 0; c < 3; ++c) {
        const Real re = reals[2 * c], im = reals[2 * c + 1];
        reals[2 * c] = multiply_add(-sine, im, cosine * re);
        reals[2 * c + 1] = multiply_add(sine, re, cosine * im);
      }
    }
    return as_vector(reals);
  }
};

// |v|^2 in double, colours in order: the contribution of a site.
template <class Real>
__device__ __forceinline__ double site_norm2(const Real (&v)[6]) {
  double norm2 = 0;
#pragma unroll
  for (int k = 0; k < 6; ++k) norm2 = multiply_add(double(v[k]), double(v[k]), norm2);
  return norm2;
}

// A chunk is one tile of right-hand sides on hop_threads sites. The tiles of one set of sites follow each other, so
// that all but the first find the links in cache; `tiles` divides the number of blocks, so a block keeps its tile.
template <class Real, int Reals, HopUse Use, int Tile, class Finish>
__global__ void __launch_bounds__(hop_threads) hop_kernel(const HopArguments a, int chunks, const Finish finish) {
  if (finish.done()) return;
  const int tiles = a.n_rhs / Tile;
  const int rhs = int(blockIdx.x) % tiles * Tile;
  ThreadSum sums[Tile];
  for (int chunk = int(blockIdx.x); chunk < chunks; chunk += int(gridDim.x)) {
    const int site = chunk / tiles * hop_threads + int(threadIdx.x);
    if (site >= a.sites) continue;  // not break: the block stays together
    ColorVector<Real> acc[Tile];
    hop_site<Tile>(CudaAccess<Real, Reals>(a, site, rhs), acc);
#pragma unroll
    for (int r = 0; r < Tile; ++r) {
      const long long offset = (long long)(rhs + r) * 6 * a.sites;
      Real* out = static_cast<Real*>(a.out) + offset;
      Real v[6] = {acc[r].c[0].re, acc[r].c[0].im, acc[r].c[1].re, acc[r].c[1].im, acc[r].c[2].re, acc[r].c[2].im};
      if constexpr (Use == HopUse::update_residual) {
        const Real four_m2 = Real(a.four_m2), alpha = Real(-a.alpha[rhs + r]);
        Real p[6], residual[6];
        load_object<6, Caching::read_only>(static_cast<const Real*>(a.p) + offset, a.sites, site, p);
        load_object<6, Caching::plain>(out, a.sites, site, residual);
#pragma unroll
        for (int k = 0; k < 6; ++k) v[k] = multiply_add(alpha, multiply_add(four_m2, p[k], -v[k]), residual[k]);
      }
      store_object(out, a.sites, site, v);
      if (a.bound) sums[r].add(site_norm2(v), a.bound[rhs + r]);
    }
  }
  if (!a.bound) return;
#pragma unroll
  for (int r = 0; r < Tile; ++r)
    sums[r].template flush<hop_threads>(a.bound[rhs + r], a.cells + (rhs + r) * cells_per_sum);
  finish();
}

struct DirectionArguments {
  void *x, *p;
  const void* r;
  int sites;
  const double *alpha, *beta, *bound;  // per right-hand side, on the device
  SumCell* cells;
};

// x += alpha p;  p = r + beta p;  sum |p|^2.  blockIdx.y is the right-hand side.
template <class Real, class Finish>
__global__ void __launch_bounds__(update_threads) direction_kernel(const DirectionArguments a, const Finish finish) {
  if (finish.done()) return;
  const int rhs = int(blockIdx.y);
  const long long offset = (long long)rhs * 6 * a.sites;
  const Real alpha = Real(a.alpha[rhs]), beta = Real(a.beta[rhs]);
  const double bound = a.bound[rhs];
  ThreadSum sum;
  const int chunks = (a.sites + update_threads - 1) / update_threads;
  for (int chunk = int(blockIdx.x); chunk < chunks; chunk += int(gridDim.x)) {
    const int site = chunk * update_threads + int(threadIdx.x);
    if (site >= a.sites) continue;
    Real x[6], p[6], r[6];
    load_object<6, Caching::streaming>(static_cast<const Real*>(a.x) + offset, a.sites, site, x);
    load_object<6, Caching::plain>(static_cast<const Real*>(a.p) + offset, a.sites, site, p);
    load_object<6, Caching::read_only>(static_cast<const Real*>(a.r) + offset, a.sites, site, r);
#pragma unroll
    for (int k = 0; k < 6; ++k) {
      x[k] = multiply_add(alpha, p[k], x[k]);
      p[k] = multiply_add(beta, p[k], r[k]);
    }
    store_object(static_cast<Real*>(a.x) + offset, a.sites, site, x);
    store_object(static_cast<Real*>(a.p) + offset, a.sites, site, p);
    sum.add(site_norm2(p), bound);
  }
  sum.flush<update_threads>(bound, a.cells + rhs * cells_per_sum);
  finish();
}

// Launches the hop kernel for run-time precision, links and number of right-hand sides.
HopArguments hop_arguments(const HopView& view);

template <class Real, int Reals, HopUse Use, class Finish>
void launch_hop_tiles(const HopArguments& a, const Finish& finish, cudaStream_t stream) {
  const int site_blocks = (a.sites + hop_threads - 1) / hop_threads;
  const auto launch = [&](auto tile) {
    constexpr int Tile = decltype(tile)::value;
    const int tiles = a.n_rhs / Tile, chunks = site_blocks * tiles;
    const auto kernel = hop_kernel<Real, Reals, Use, Tile, Finish>;
    const int blocks = a.bound ? (grid_size(kernel, hop_threads, chunks) + tiles - 1) / tiles * tiles : chunks;
    kernel<<<blocks, hop_threads, 0, stream>>>(a, chunks, finish);
  };
  if (a.n_rhs % 8 == 0) return launch(std::integral_constant<int, 8>());
  if (a.n_rhs % 4 == 0) return launch(std::integral_constant<int, 4>());
  if (a.n_rhs % 3 == 0) return launch(std::integral_constant<int, 3>());
  if (a.n_rhs % 2 == 0) return launch(std::integral_constant<int, 2>());
  launch(std::integral_constant<int, 1>());
}

template <HopUse Use, class Finish>
void launch_hop(const HopView& view, const HopArguments& a, const Finish& finish, cudaStream_t stream) {
  const bool full = view.reconstruct == Reconstruct::none18;
  if (view.precision == Precision::fp64)
    full ? launch_hop_tiles<double, 18, Use>(a, finish, stream) : launch_hop_tiles<double, 12, Use>(a, finish, stream);
  else
    full ? launch_hop_tiles<float, 18, Use>(a, finish, stream) : launch_hop_tiles<float, 12, Use>(a, finish, stream);
}

template <class Finish>
void launch_direction(const HopView& view, const DirectionArguments& a, const Finish& finish, cudaStream_t stream) {
  const auto launch = [&](const auto kernel) {
    const int chunks = (a.sites + update_threads - 1) / update_threads;
    const dim3 grid(grid_size(kernel, update_threads, chunks), view.n_rhs);
    kernel<<<grid, update_threads, 0, stream>>>(a, finish);
  };
  view.precision == Precision::fp64 ? launch(direction_kernel<double, Finish>)
                                    : launch(direction_kernel<float, Finish>);
}

}  // namespace staghorn::cuda
