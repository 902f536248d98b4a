// THE hop: D a(x) at one site (or one block of lanes), for one tile of right-hand sides. CPU and CUDA, all precisions,
// link forms and layouts share this text; an Access hides where links and neighbours come from:
//
//   access.link_here(mu)             U_mu(x)
//   access.link_behind(mu)           U_mu(x - mu)
//   access.vector(mu, forward, rhs)  eta_mu(x) a(x + mu) or eta_mu(x) a(x - mu), boundary phase included
//   Access::third_row_unit           the factor that the third row of a link still lacks
//
// The order is canonical (mu = x, y, z, t, forward then backward, all by fma), so the bits of a site never depend on
// the cut. 570 flop a site and right-hand side (8 products of 66 and 7 sums of 6); a link is loaded once for the tile.
#pragma once

#include "dirac/algebra/su3.hpp"

namespace staghorn {

// out += U v, where the third row of U may lack a factor (third_row_unit): two products instead of six.
template <class Access, class Real>
STAGHORN_INLINE void add_hop(ColorVector<Real>& out, const ColorMatrix<Real>& u, const ColorVector<Real>& v) {
  if constexpr (Access::third_row_unit == 1) {
    multiply_add(out, u, v);
  } else {
    const Complex<Real> before = out.c[2];
    const Real unit = Access::third_row_unit - Real{};
    out.c[2] = Complex<Real>{};
    multiply_add(out, u, v);
    out.c[2] = Complex<Real>{multiply_add(unit, out.c[2].re, before.re), multiply_add(unit, out.c[2].im, before.im)};
  }
}

// out -= U^dagger v, where the third row of U may lack a factor.
template <class Access, class Real>
STAGHORN_INLINE void subtract_hop_back(ColorVector<Real>& out, const ColorMatrix<Real>& u, const ColorVector<Real>& v) {
  if constexpr (Access::third_row_unit == 1) {
    adjoint_multiply_subtract(out, u, v);
  } else {
    ColorVector<Real> scaled = v;
    scaled.c[2] = Complex<Real>{v.c[2].re * Access::third_row_unit, v.c[2].im * Access::third_row_unit};
    adjoint_multiply_subtract(out, u, scaled);
  }
}

template <int Tile, class Access, class Real>
STAGHORN_INLINE void hop_site(const Access& access, ColorVector<Real> (&out)[Tile]) {
  STAGHORN_UNROLL
  for (int r = 0; r < Tile; ++r) out[r] = {};
  STAGHORN_DIRECTIONS  // on the CPU not unrolled: a quarter of the code
      for (int mu = 0; mu < 4; ++mu) {
    {
      const ColorMatrix<Real> u = access.link_here(mu);
      STAGHORN_UNROLL
      for (int r = 0; r < Tile; ++r) add_hop<Access>(out[r], u, access.vector(mu, true, r));
    }
    {
      const ColorMatrix<Real> u = access.link_behind(mu);
      STAGHORN_UNROLL
      for (int r = 0; r < Tile; ++r) subtract_hop_back<Access>(out[r], u, access.vector(mu, false, r));
    }
  }
}

}  // namespace staghorn
