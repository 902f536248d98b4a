// What the device does with the hop at one site: the Site of cg_site.hpp, stores, faces and sums.
#pragma once

#include "dirac/fields/cuda_spill.cuh"
#include "dirac/kernels/cg_site.hpp"
#include "dirac/kernels/cuda/cuda_access.cuh"
#include "dirac/kernels/cuda/cuda_sums.cuh"
#include "dirac/kernels/hop_kernel.hpp"

namespace staghorn::cuda {

constexpr int hop_threads = 128;
constexpr int least_tile_of_many = 4;  // from it on threads share sites (cuda_hop_many.cuh)

// The scalars of a call for the right-hand sides from `rhs` on. With at_use each scalar is loaded where it is needed:
// the scalars of several right-hand sides, kept over many sites, would find no register.
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
  __device__ __forceinline__ Real new_weight(int r) const { return Real(load(a.new_weight, r)); }
  __device__ __forceinline__ Real old_weight(int r) const { return Real(load(a.old_weight, r)); }
  __device__ __forceinline__ double bound(int r) const { return load(a.bound, r); }

 private:
  __device__ __forceinline__ double load(const double* all, int r) const {
    if (!at_use) return all[rhs + r];
    double value;
    asm volatile("ld.global.f64 %0, [%1];" : "=d"(value) : "l"(all + unsigned(computed_here(rhs)) + r));
    return value;
  }
};

// A site of the residual update or of tmp, for one right-hand side (cg_site.hpp). of_x: how x is read.
template <class Stored, Caching of_x, class Scalars>
struct HopSite {
  using Real = Arithmetic<Stored>;
  const HopArguments& a;
  const Scalars& scalars;
  int r, first;  // right-hand side first + r
  int V, site;
  Stored *out, *p;                // its vectors; as addresses, since an offset takes registers that spill
  ColorVector<Real> before = {};  // p before the recurrence

  __device__ __forceinline__ bool recurs() const { return scalars.recurs(); }
  __device__ __forceinline__ Real alpha() const { return scalars.alpha(r); }
  __device__ __forceinline__ Real beta() const { return scalars.beta(r); }
  __device__ __forceinline__ Real four_m2() const { return Real(a.four_m2); }
  __device__ __forceinline__ ColorVector<Real> load_out() const { return vector_at<Caching::plain>(out, V, site); }
  __device__ __forceinline__ ColorVector<Real> load_p() const { return vector_at<Caching::plain>(p, V, site); }
  __device__ __forceinline__ ColorVector<Real> store_p(const ColorVector<Real>& v) const {
    return as_vector(store_vector(p, V, site, reals_of(v).real).real);
  }

  // x = new_weight p + (old_weight before + x) in one pass over x; where both coefficients are 0, x is not touched.
  __device__ __forceinline__ void grow_old(const ColorVector<Real>& v) { before = v; }
  __device__ __forceinline__ void grow_new(const ColorVector<Real>& v) const {
    if (!scalars.grows()) return;
    const Real new_weight = scalars.new_weight(r), old_weight = scalars.old_weight(r);
    if (new_weight == 0 && old_weight == 0) return;
    Real* const x = static_cast<Real*>(a.x) + vector_offset<Real>(first, V) + vector_offset<Real>(r, V);
    const StoredVector<Real> from_old = reals_of(before), from_new = reals_of(v);
    Real sum[6];
    load_vector<of_x>(x, V, site, sum);
    // Real by real, as if by add_scaled twice: with two passes over the six the compiler keeps fewer loads in flight.
#pragma unroll
    for (int k = 0; k < 6; ++k)
      sum[k] = multiply_add(new_weight, from_new.real[k], multiply_add(old_weight, from_old.real[k], sum[k]));
    store_vector(x, V, site, sum);
  }
};

// Finishes the hop `acc` at a site (HopUse) for a tile of right-hand sides, and adds to the sums.
template <class Stored, Stencil stencil, HopUse Use, bool Ghosts, Caching of_x = Caching::streaming, int Tile,
          class Sums, class Scalars>
__device__ __forceinline__ void finish_site(const HopArguments& a, const Place& place, int rhs,
                                            const ColorVector<Arithmetic<Stored>> (&acc)[Tile], Sums& sums,
                                            const Scalars& scalars) {
  const int sites = a.sites.V;
#pragma unroll
  for (int r = 0; r < Tile; ++r) {
    int V = sites, site = place.site, first = rhs;
    if constexpr (Tile > 2)  // not the places of all r ahead, which would spill
      V = computed_here(V), site = computed_here(site), first = computed_here(first);
    const std::size_t offset = vector_offset<Stored>(first, V) + vector_offset<Stored>(r, V);
    HopSite<Stored, of_x, Scalars> at{
        a, scalars, r, first, V, site, static_cast<Stored*>(a.out) + offset, static_cast<Stored*>(a.p) + offset};
    ColorVector<Arithmetic<Stored>> result = acc[r];
    finish_hop<Use>(at, result);
    const auto v = reals_of(result);
    if constexpr (Ghosts) push_faces<Stored, depth_of(stencil)>(a.sites, place, a.push, first + r, v.real);
    // Of many right-hand sides nothing written is still in cache where it is read next; neighbours should be.
    constexpr Caching of_out = Tile < least_tile_of_many ? Caching::plain : Caching::streaming;
    const auto stored = store_vector<of_out>(at.out, V, site, v.real);
    if (scalars.sums()) sums[r].add(contribution(stored.real), scalars.bound(r));
  }
}

}  // namespace staghorn::cuda
