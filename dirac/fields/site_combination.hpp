// What two vectors at a site make together. One text for CPU and GPU.
#pragma once

#include <cmath>

#include "dirac/algebra/su3_matrix.hpp"

namespace staghorn {

// y + s a, rounded once.
STAGHORN_INLINE ColorVector<double> plus_multiple(const ColorVector<double>& y, double s,
                                                  const ColorVector<double>& a) {
  ColorVector<double> sum;
  for (int c = 0; c < 3; ++c) sum.c[c] = {multiply_add(s, a.c[c].re, y.c[c].re), multiply_add(s, a.c[c].im, y.c[c].im)};
  return sum;
}

// s a - y, rounded once: the even source 2m b_e - D b_o from y = D b_o.
STAGHORN_INLINE ColorVector<double> multiple_minus(double s, const ColorVector<double>& a,
                                                   const ColorVector<double>& y) {
  return plus_multiple({{{-y.c[0].re, -y.c[0].im}, {-y.c[1].re, -y.c[1].im}, {-y.c[2].re, -y.c[2].im}}}, s, a);
}

// (a - y) / s: the odd solution (b_o - D x_e) / 2m from y = D x_e.
STAGHORN_INLINE ColorVector<double> difference_over(const ColorVector<double>& a, const ColorVector<double>& y,
                                                    double s) {
  ColorVector<double> ratio;
  for (int c = 0; c < 3; ++c) ratio.c[c] = {(a.c[c].re - y.c[c].re) / s, (a.c[c].im - y.c[c].im) / s};
  return ratio;
}

// s a.
STAGHORN_INLINE ColorVector<double> multiple(double s, const ColorVector<double>& a) {
  ColorVector<double> product;
  for (int c = 0; c < 3; ++c) product.c[c] = {s * a.c[c].re, s * a.c[c].im};
  return product;
}

// A vector of the norm |r| / |x|, or of norm 1 where x is zero. Where the square of x leaves the range of a double,
// both are multiplied by a power of two first, up to four times: their ratio stays.
STAGHORN_INLINE ColorVector<double> norm_ratio(ColorVector<double> r, ColorVector<double> x) {
  bool is_zero = true;
  for (const Complex<double>& c : x.c) is_zero = is_zero && c.re == 0 && c.im == 0;
  if (is_zero) return {{{1, 0}, {0, 0}, {0, 0}}};
  double x2 = norm2(x);
  for (int i = 0; i < 4 && !(x2 > 0x1p-600 && x2 < 0x1p600); ++i) {
    const double s = x2 < 1 ? 0x1p300 : 0x1p-300;
    r = multiple(s, r);
    x = multiple(s, x);
    x2 = norm2(x);
  }
  return {{{std::sqrt(norm2(r) / x2), 0}, {0, 0}, {0, 0}}};
}

}  // namespace staghorn
