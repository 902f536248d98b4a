// What is done at one site with the hop of it, on the device.
#pragma once

#include "dirac/cuda_access.cuh"
#include "dirac/cuda_sums.cuh"
#include "dirac/hop_kernel.hpp"

namespace staghorn::cuda {

constexpr int hop_threads = 128;

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
    if constexpr (Use == HopUse::update_residual) {
      const Real four_m2 = Real(a.four_m2), alpha = Real(-a.alpha[rhs + r]);
      Real p[6], residual[6];
      load_vector<Caching::read_only>(static_cast<const Stored*>(a.p) + offset, a.sites.sites, place.site, p);
      load_vector<Caching::plain>(out, a.sites.sites, place.site, residual);
#pragma unroll
      for (int k = 0; k < 6; ++k) v[k] = multiply_add(alpha, multiply_add(four_m2, p[k], -v[k]), residual[k]);
    }
    if constexpr (Ghosts && Use == HopUse::store_norm) push_faces<Stored>(a.sites, place, a.push, rhs + r, v);
    const auto stored = store_vector(out, a.sites.sites, place.site, v);
    if (a.bound) sums[r].add(site_norm2(stored.real), a.bound[rhs + r]);
  }
}

}  // namespace staghorn::cuda
