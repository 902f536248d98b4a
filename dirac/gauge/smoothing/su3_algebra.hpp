// The Lie algebra of SU(3): projection onto it, its scalar product, its exponential. Host and device; + - * and fma
// alone, so that both give the same bits.
#pragma once

#include "dirac/algebra/su3_matrix.hpp"

namespace staghorn {

// A traceless anti-Hermitian matrix: i diagonal[k] on the diagonal, upper[0..2] at (0,1), (0,2), (1,2).
struct AntiHermitian {
  double diagonal[3];
  Complex<double> upper[3];
};

// (M - M^dagger)/2 - tr(M - M^dagger)/6: the part of M in the algebra.
STAGHORN_INLINE AntiHermitian algebra_part(const ColorMatrix<double>& m) {
  const double mean = (m.e[0][0].im + m.e[1][1].im + m.e[2][2].im) / 3;
  AntiHermitian a;
  STAGHORN_UNROLL
  for (int i = 0; i < 3; ++i) a.diagonal[i] = m.e[i][i].im - mean;
  const auto half = [](const Complex<double>& ij, const Complex<double>& ji) {
    return Complex<double>{0.5 * (ij.re - ji.re), 0.5 * (ij.im + ji.im)};
  };
  a.upper[0] = half(m.e[0][1], m.e[1][0]);
  a.upper[1] = half(m.e[0][2], m.e[2][0]);
  a.upper[2] = half(m.e[1][2], m.e[2][1]);
  return a;
}

// a = weight z + weight_of_a a
STAGHORN_INLINE void combine(AntiHermitian& a, double weight_of_a, double weight, const AntiHermitian& z) {
  STAGHORN_UNROLL
  for (int i = 0; i < 3; ++i) {
    a.diagonal[i] = multiply_add(weight_of_a, a.diagonal[i], weight * z.diagonal[i]);
    a.upper[i] = {multiply_add(weight_of_a, a.upper[i].re, weight * z.upper[i].re),
                  multiply_add(weight_of_a, a.upper[i].im, weight * z.upper[i].im)};
  }
}

// -tr(a b) = Re tr(a b^dagger)
STAGHORN_INLINE double scalar_product(const AntiHermitian& a, const AntiHermitian& b) {
  double diagonal = 0, upper = 0;
  STAGHORN_UNROLL
  for (int i = 0; i < 3; ++i) {
    diagonal = multiply_add(a.diagonal[i], b.diagonal[i], diagonal);
    upper = multiply_add(a.upper[i].im, b.upper[i].im, multiply_add(a.upper[i].re, b.upper[i].re, upper));
  }
  return multiply_add(2.0, upper, diagonal);
}

STAGHORN_INLINE ColorMatrix<double> matrix_of(const AntiHermitian& a) {
  ColorMatrix<double> m;
  const auto set = [&](int i, int j, const Complex<double>& upper) {
    m.e[i][j] = upper;
    m.e[j][i] = {-upper.re, upper.im};
  };
  STAGHORN_UNROLL
  for (int i = 0; i < 3; ++i) m.e[i][i] = {0, a.diagonal[i]};
  set(0, 1, a.upper[0]);
  set(0, 2, a.upper[1]);
  set(1, 2, a.upper[2]);
  return m;
}

// exp(a), in SU(3) up to rounding, for any finite a. About 800 flop, and 216 for each squaring.
//
// By Cayley and Hamilton a^3 = (tr a^2 / 2) a + det a, so every power series in a is q0 + q1 a + q2 a^2, and Horner's
// rule needs scalars alone [Morningstar & Peardon, hep-lat/0311018, with a series in place of trigonometry]. The norm
// of a is first brought below 1 by a power of two, which is undone by squaring; 18 terms then leave 1/19! < 2^-56.
STAGHORN_INLINE ColorMatrix<double> exponential(AntiHermitian a) {
  int squarings = 0;
  for (double norm2 = scalar_product(a, a); norm2 > 1 && squarings < 64; norm2 *= 0.25) ++squarings;
  if (squarings > 0) {
    double scale = 1;
    for (int k = 0; k < squarings; ++k) scale *= 0.5;
    combine(a, 0.0, scale, AntiHermitian(a));
  }
  const ColorMatrix<double> m = matrix_of(a);
  const double half_trace = -0.5 * scalar_product(a, a);  // tr a^2 / 2
  const double det = determinant(m).im;                   // the determinant is imaginary
  Complex<double> q0{1, 0}, q1{0, 0}, q2{0, 0};
  STAGHORN_UNROLL
  for (int n = 18; n >= 1; --n) {
    // q = 1 + a q / n
    const double r = 1.0 / n;
    const Complex<double> old0 = q0, old1 = q1, old2 = q2;
    q0 = {multiply_add(-r * det, old2.im, 1.0), r * det * old2.re};
    q1 = {r * multiply_add(half_trace, old2.re, old0.re), r * multiply_add(half_trace, old2.im, old0.im)};
    q2 = r * old1;
  }
  const ColorMatrix<double> square = m * m;
  ColorMatrix<double> result;
  STAGHORN_UNROLL
  for (int i = 0; i < 3; ++i) STAGHORN_UNROLL
  for (int j = 0; j < 3; ++j) {
    const Complex<double> first = i == j ? q0 : Complex<double>{0, 0};
    result.e[i][j] = multiply_add(q2, square.e[i][j], multiply_add(q1, m.e[i][j], first));
  }
  for (int k = 0; k < squarings; ++k) result = result * result;
  return result;
}

}  // namespace staghorn
