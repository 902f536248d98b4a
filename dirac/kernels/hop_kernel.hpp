// THE hop: D a(x) at one site (or one block of lanes), for one tile of right-hand sides. CPU and CUDA, all precisions,
// link forms and layouts share this text; an Access hides where links and neighbours come from:
//
//   Access::stencil                       which legs a site has (legs.hpp)
//   access.link_here<set>(mu)             U_mu(x), where U are the links of the set
//   access.link_behind<set>(mu)           U_mu(x - s mu), s the steps of the set
//   access.vector<set>(mu, forward, rhs)  f eta_mu(x) a(x + s mu) or f eta_mu(x) a(x - s mu), boundary phase included
//   Access::third_row_unit<set>           the factor that the third row of a link still lacks
//
// f is 1 for naive quarks. Links of improved quarks are stored without a common factor: f = LinkSetView::scale, rounded
// to the real type that computes, times link_unit (fixed_point.hpp). f, with the sign, is rounded once and then
// multiplies each component (in fp16: the unit of the site) before the phase of a boundary does.
//
// The order is canonical (mu = x, y, z, t; near forward, near backward, Naik forward, Naik backward; all by fma), so
// the bits of a site never depend on the cut. Flops: hop_cost.hpp. A link is loaded once for the tile.
#pragma once

#include "dirac/algebra/su3.hpp"
#include "dirac/stencil/legs.hpp"

namespace staghorn {

// out += U v, where the third row of U may lack a factor (third_row_unit): two products instead of six.
template <class Access, LinkSet set, class Real>
STAGHORN_INLINE void add_hop(ColorVector<Real>& out, const ColorMatrix<Real>& u, const ColorVector<Real>& v) {
  constexpr auto third_row_unit = Access::template third_row_unit<set>;
  if constexpr (third_row_unit == 1) {
    multiply_add(out, u, v);
  } else {
    const Complex<Real> before = out.c[2];
    const Real unit = third_row_unit - Real{};
    out.c[2] = Complex<Real>{};
    multiply_add(out, u, v);
    out.c[2] = Complex<Real>{multiply_add(unit, out.c[2].re, before.re), multiply_add(unit, out.c[2].im, before.im)};
  }
}

// out -= U^dagger v, where the third row of U may lack a factor.
template <class Access, LinkSet set, class Real>
STAGHORN_INLINE void subtract_hop_back(ColorVector<Real>& out, const ColorMatrix<Real>& u, const ColorVector<Real>& v) {
  constexpr auto third_row_unit = Access::template third_row_unit<set>;
  if constexpr (third_row_unit == 1) {
    adjoint_multiply_subtract(out, u, v);
  } else {
    ColorVector<Real> scaled = v;
    scaled.c[2] = Complex<Real>{v.c[2].re * third_row_unit, v.c[2].im * third_row_unit};
    adjoint_multiply_subtract(out, u, scaled);
  }
}

// The two legs of one set of links in direction mu.
template <LinkSet set, int Tile, class Access, class Real>
STAGHORN_INLINE void add_legs(const Access& access, int mu, ColorVector<Real> (&out)[Tile]) {
  {
    const ColorMatrix<Real> u = access.template link_here<set>(mu);
    STAGHORN_UNROLL
    for (int r = 0; r < Tile; ++r) add_hop<Access, set>(out[r], u, access.template vector<set>(mu, true, r));
  }
  {
    const ColorMatrix<Real> u = access.template link_behind<set>(mu);
    STAGHORN_UNROLL
    for (int r = 0; r < Tile; ++r) subtract_hop_back<Access, set>(out[r], u, access.template vector<set>(mu, false, r));
  }
}

template <int Tile, class Access, class Real>
STAGHORN_INLINE void hop_site(const Access& access, ColorVector<Real> (&out)[Tile]) {
  STAGHORN_UNROLL
  for (int r = 0; r < Tile; ++r) out[r] = {};
  STAGHORN_DIRECTIONS  // on the CPU not unrolled: a quarter of the code
      for (int mu = 0; mu < 4; ++mu) {
    add_legs<LinkSet::near>(access, mu, out);
    if constexpr (Access::stencil == Stencil::improved) add_legs<LinkSet::naik>(access, mu, out);
  }
}

}  // namespace staghorn
