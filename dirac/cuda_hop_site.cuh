// What is done at one site with the hop of it, on the device.
#pragma once

#include "dirac/cuda_access.cuh"
#include "dirac/cuda_sums.cuh"
#include "dirac/hop_kernel.hpp"

namespace staghorn::cuda {

constexpr int hop_threads = 128;

// x = of_p p + (of_r r + x) at one site of one right-hand side; where both coefficients are 0, x is not touched.
template <Caching how, class Real>
__device__ __forceinline__ void add_to_solution(Real* x, int V, int site, Real of_p, const Real (&p)[6], Real of_r,
                                                const Real (&r)[6]) {
  if (of_p == 0 && of_r == 0) return;
  Real sum[6];
  load_vector<how>(x, V, site, sum);
#pragma unroll
  for (int k = 0; k < 6; ++k) sum[k] = multiply_add(of_p, p[k], multiply_add(of_r, r[k], sum[k]));
  store_vector(x, V, site, sum);
}

// x += of_p p, alike.
template <Caching how, class Real>
__device__ __forceinline__ void add_to_solution(Real* x, int V, int site, Real of_p, const Real (&p)[6]) {
  if (of_p == 0) return;
  Real sum[6];
  load_vector<how>(x, V, site, sum);
#pragma unroll
  for (int k = 0; k < 6; ++k) sum[k] = multiply_add(of_p, p[k], sum[k]);
  store_vector(x, V, site, sum);
}

// Stores the hop `acc` at a site, or the residual updated by it, for a tile of right-hand sides, and adds to the sums.
template <class Stored, HopUse Use, bool Ghosts, int Tile, class Sums>
__device__ __forceinline__ void finish_site(const HopArguments& a, const Place& place, int rhs,
                                            const ColorVector<Arithmetic<Stored>> (&acc)[Tile], Sums& sums) {
  using Real = Arithmetic<Stored>;
#pragma unroll
  for (int r = 0; r < Tile; ++r) {
    const long long offset = vector_offset<Stored>(rhs + r, a.sites.sites);
    Stored* out = static_cast<Stored*>(a.out) + offset;
    Real v[6] = {acc[r].c[0].re, acc[r].c[0].im, acc[r].c[1].re, acc[r].c[1].im, acc[r].c[2].re, acc[r].c[2].im};
    [[maybe_unused]] Real p[6], residual[6];
    if constexpr (Use == HopUse::update_residual) {
      const Real four_m2 = Real(a.four_m2), alpha = Real(-a.alpha[rhs + r]);
      load_vector<Caching::read_only>(static_cast<const Stored*>(a.p) + offset, a.sites.sites, place.site, p);
      load_vector<Caching::plain>(out, a.sites.sites, place.site, residual);
#pragma unroll
      for (int k = 0; k < 6; ++k) v[k] = multiply_add(alpha, multiply_add(four_m2, p[k], -v[k]), residual[k]);
    }
    if constexpr (Ghosts && Use == HopUse::store_norm) push_faces<Stored>(a.sites, place, a.push, rhs + r, v);
    const auto stored = store_vector(out, a.sites.sites, place.site, v);
    if (a.bound) sums[r].add(site_norm2(stored.real), a.bound[rhs + r]);
    if constexpr (Use == HopUse::update_residual && !is_fixed_point<Stored>)
      if (a.x)
        add_to_solution<Caching::streaming>(static_cast<Real*>(a.x) + offset, a.sites.sites, place.site,
                                            Real(a.of_p[rhs + r]), p, Real(a.of_r[rhs + r]), residual);
  }
}

}  // namespace staghorn::cuda
