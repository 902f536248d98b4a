// The lines of Conjugate Gradient at one site (or one block of lanes) and right-hand side. CPU and CUDA share this
// text; a Site hides where vectors and scalars come from, and what of them stays in registers:
//
//   site.recurs()                 whether p (or tmp) follows its recurrence in this call
//   site.alpha(), beta()          scalars, as Real, the number type of the site's vectors
//   site.four_m2()
//   site.load_out(), load_p(), load_r()
//   site.store_p(v)               stores p; returns what the next to read it finds, rounding included
//   site.grow_old(p), grow_new(p) what x gains from the direction before and after the recurrence
//   site.grow(p)                  x += alpha p, where alpha is not 0
//
// The order of operations is fixed, all multiply-adds are fma: CPU and GPU give the same bits.
#pragma once

#include "dirac/algebra/su3.hpp"
#include "dirac/kernels/kernel_calls.hpp"

namespace staghorn {

// v = factor v + other
template <class Real>
STAGHORN_INLINE void scale_and_add(ColorVector<Real>& v, const Real& factor, const ColorVector<Real>& other) {
  STAGHORN_UNROLL
  for (int c = 0; c < 3; ++c) {
    v.c[c].re = multiply_add(factor, v.c[c].re, other.c[c].re);
    v.c[c].im = multiply_add(factor, v.c[c].im, other.c[c].im);
  }
}

// x += factor p
template <class Real>
STAGHORN_INLINE void add_scaled(ColorVector<Real>& x, const Real& factor, const ColorVector<Real>& p) {
  STAGHORN_UNROLL
  for (int c = 0; c < 3; ++c) {
    x.c[c].re = multiply_add(factor, p.c[c].re, x.c[c].re);
    x.c[c].im = multiply_add(factor, p.c[c].im, x.c[c].im);
  }
}

// |v|^2 of six reals, in the number type Sum, colours in order. What a site contributes to an exact sum.
template <class Sum>
STAGHORN_INLINE Sum site_norm2(const Sum (&v)[6]) {
  Sum norm2{};
  STAGHORN_UNROLL
  for (int k = 0; k < 6; ++k) norm2 = multiply_add(v[k], v[k], norm2);
  return norm2;
}

// Turns v = D a at a site into what the call stores in `out` (HopUse).
template <HopUse use, class Site, class Real>
STAGHORN_INLINE void finish_hop(Site& site, ColorVector<Real>& v) {
  if constexpr (use == HopUse::update_residual) {
    const Real minus_alpha = -site.alpha(), four_m2 = site.four_m2();
    ColorVector<Real> p = site.load_p();
    const ColorVector<Real> residual = site.load_out();
    site.grow_old(p);
    if (site.recurs()) {  // p = r + beta p
      scale_and_add(p, site.beta(), residual);
      p = site.store_p(p);
    }
    site.grow_new(p);
    // r -= alpha (4m^2 p - D tmp)
    STAGHORN_UNROLL
    for (int c = 0; c < 3; ++c) {
      v.c[c].re = multiply_add(minus_alpha, multiply_add(four_m2, p.c[c].re, -v.c[c].re), residual.c[c].re);
      v.c[c].im = multiply_add(minus_alpha, multiply_add(four_m2, p.c[c].im, -v.c[c].im), residual.c[c].im);
    }
  } else if constexpr (use == HopUse::store_norm) {
    if (site.recurs()) {  // tmp = D r + beta tmp
      const ColorVector<Real> before = site.load_out();
      // beta is asked for at each use: a GPU with many threads has no register to keep it in (cuda_one_kernel.cuh).
      STAGHORN_UNROLL
      for (int c = 0; c < 3; ++c) {
        v.c[c].re = multiply_add(site.beta(), before.c[c].re, v.c[c].re);
        v.c[c].im = multiply_add(site.beta(), before.c[c].im, v.c[c].im);
      }
    }
  }
}

// x += alpha p, then p = r + beta p; returns the new p, which is not stored yet.
template <class Site>
STAGHORN_INLINE auto next_direction(const Site& site) {
  auto p = site.load_p();
  const auto r = site.load_r();
  site.grow(p);
  scale_and_add(p, site.beta(), r);
  return p;
}

}  // namespace staghorn
