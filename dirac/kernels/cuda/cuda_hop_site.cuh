// What is done at one site with the hop of it, on the device.
#pragma once

#include "dirac/fields/cuda_spill.cuh"
#include "dirac/kernels/cuda/cuda_access.cuh"
#include "dirac/kernels/cuda/cuda_sums.cuh"
#include "dirac/kernels/hop_kernel.hpp"

namespace staghorn::cuda {

constexpr int hop_threads = 128;
constexpr int least_tile_of_many = 4;  // from it on threads share sites (cuda_hop_many.cuh)

// x = of_new p + (of_old before + x) at one site of one right-hand side; where both coefficients are 0, x is not
// touched.
template <Caching how, class Real>
__device__ __forceinline__ void add_to_solution(Real* x, int V, int site, Real of_new, const Real (&p)[6], Real of_old,
                                                const Real (&before)[6]) {
  if (of_new == 0 && of_old == 0) return;
  Real sum[6];
  load_vector<how>(x, V, site, sum);
#pragma unroll
  for (int k = 0; k < 6; ++k) sum[k] = multiply_add(of_new, p[k], multiply_add(of_old, before[k], sum[k]));
  store_vector(x, V, site, sum);
}

// x += alpha p, alike.
template <Caching how, class Real>
__device__ __forceinline__ void add_to_solution(Real* x, int V, int site, Real alpha, const Real (&p)[6]) {
  if (alpha == 0) return;
  Real sum[6];
  load_vector<how>(x, V, site, sum);
#pragma unroll
  for (int k = 0; k < 6; ++k) sum[k] = multiply_add(alpha, p[k], sum[k]);
  store_vector(x, V, site, sum);
}

// p = r + beta p.
template <class Real>
__device__ __forceinline__ void next_direction(Real beta, Real (&p)[6], const Real (&residual)[6]) {
#pragma unroll
  for (int k = 0; k < 6; ++k) p[k] = multiply_add(beta, p[k], residual[k]);
}

// The scalars of a call for the right-hand sides from `rhs` on. at_use: each is loaded where it is asked for; kept over
// many sites, those of several right-hand sides would find no register.
template <class Stored, bool at_use>
struct ScalarsOfCall {
  using Real = Arithmetic<Stored>;
  const HopArguments& a;
  int rhs;

  __device__ __forceinline__ bool recurs() const { return a.beta; }
  __device__ __forceinline__ bool grows() const { return a.x; }
  __device__ __forceinline__ bool sums() const { return a.bound; }
  __device__ __forceinline__ Real alpha(int r) const { return Real(load(a.alpha, r)); }
  __device__ __forceinline__ Real beta(int r) const { return Real(load(a.beta, r)); }
  __device__ __forceinline__ Real of_new(int r) const { return Real(load(a.of_new, r)); }
  __device__ __forceinline__ Real of_old(int r) const { return Real(load(a.of_old, r)); }
  __device__ __forceinline__ double bound(int r) const { return load(a.bound, r); }

 private:
  __device__ __forceinline__ double load(const double* all, int r) const {
    if (!at_use) return all[rhs + r];
    double value;
    asm volatile("ld.global.f64 %0, [%1];" : "=d"(value) : "l"(all + unsigned(computed_here(rhs)) + r));
    return value;
  }
};

// What is done with the hop `acc` at a site (HopUse), for a tile of right-hand sides, and adds to the sums.
template <class Stored, HopUse Use, bool Ghosts, Caching of_x = Caching::streaming, int Tile, class Sums, class Scalars>
__device__ __forceinline__ void finish_site(const HopArguments& a, const Place& place, int rhs,
                                            const ColorVector<Arithmetic<Stored>> (&acc)[Tile], Sums& sums,
                                            const Scalars& scalars) {
  using Real = Arithmetic<Stored>;
  const int sites = a.sites.V;
#pragma unroll
  for (int r = 0; r < Tile; ++r) {
    int V = sites, site = place.site, first = rhs;
    if constexpr (Tile >= least_tile_of_many)  // not the places of all r ahead
      V = computed_here(V), site = computed_here(site), first = computed_here(first);
    const std::size_t offset = vector_offset<Stored>(first, V) + vector_offset<Stored>(r, V);
    Stored* const out = static_cast<Stored*>(a.out) + offset;
    Real v[6] = {acc[r].c[0].re, acc[r].c[0].im, acc[r].c[1].re, acc[r].c[1].im, acc[r].c[2].re, acc[r].c[2].im};
    if constexpr (Use == HopUse::update_residual) {
      Stored* const stored_p = static_cast<Stored*>(a.p) + offset;
      const Real four_m2 = Real(a.four_m2), minus_alpha = -scalars.alpha(r);
      Real before[6], p[6], residual[6];
      load_vector<Caching::plain>(stored_p, V, site, before);
      load_vector<Caching::plain>(out, V, site, residual);
#pragma unroll
      for (int k = 0; k < 6; ++k) p[k] = before[k];
      if (scalars.recurs()) {
        next_direction(scalars.beta(r), p, residual);
        const auto found = store_vector(stored_p, V, site, p);
#pragma unroll
        for (int k = 0; k < 6; ++k) p[k] = found.real[k];
      }
      if (scalars.grows())
        add_to_solution<of_x>(static_cast<Real*>(a.x) + vector_offset<Real>(first, V) + vector_offset<Real>(r, V), V,
                              site, scalars.of_new(r), p, scalars.of_old(r), before);
#pragma unroll
      for (int k = 0; k < 6; ++k) v[k] = multiply_add(minus_alpha, multiply_add(four_m2, p[k], -v[k]), residual[k]);
    } else if (scalars.recurs()) {
      Real before[6];
      load_vector<Caching::plain>(out, V, site, before);
#pragma unroll
      for (int k = 0; k < 6; ++k) v[k] = multiply_add(scalars.beta(r), before[k], v[k]);
    }
    if constexpr (Ghosts) push_faces<Stored>(a.sites, place, a.push, first + r, v);
    // Of many right-hand sides nothing written is still in cache where it is read next; neighbours should be.
    constexpr Caching of_out = Tile < least_tile_of_many ? Caching::plain : Caching::streaming;
    const auto stored = store_vector<of_out>(out, V, site, v);
    if (scalars.sums()) sums[r].add(site_norm2(stored.real), scalars.bound(r));
  }
}

}  // namespace staghorn::cuda
