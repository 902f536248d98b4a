// The forms in which a link is stored. SU(3): 18 reals, 12 (two rows), or 8. U(3): the last two and a real for the
// determinant, 13 and 9.
//
// Eight reals, by + - * / and fma alone: two stereographic projections, exact for the unit link and well conditioned
// for all links. Row 0 is a unit vector of C^3, a point of the sphere S^5. Given it, row 1 is fixed by a unit vector
// (alpha, beta) of C^2, a point of S^3. Each point is turned to the half of its sphere that lies away from the pole
// (one sign each) and projected from the pole onto a plane, where no coordinate exceeds one. With
//
//   h = (t, p, q) = (1 + i y0, y1 + i y2, y3 + i y4),   k = (1 + i y5, y6 + i y7),
//
// rows of the link are
//
//   A = 2 h / |h|^2 - (1, 0, 0)                  row 0 = +-A
//   (alpha, beta) = 2 k / |k|^2 - (1, 0)
//   B = (0, alpha, beta) - g h                   row 1 = +-B,    g = 2 t (alpha p* + beta q*) / |h|^2 |t|^2
//   row 2 = (row 0 x row 1)*
//
// (|h|^2 >= 1 and |t|^2 >= 1; that B is a unit vector orthogonal to A takes two lines.) The signs travel in the lowest
// mantissa bits of y4 and y7; in fixed point in their lowest bits.
//
// The determinant of a link of U(3) is a point of the circle S^1. It is turned and projected in the same way:
//
//   det = +-(1 + i y)^2 / (1 + y^2) = +-(2 / (1 + y^2) - 1 + i 2y / (1 + y^2)),   row 2 = det (row 0 x row 1)*
#pragma once

#include <bit>
#include <cstdint>

#include "dirac/algebra/fixed_point.hpp"
#include "dirac/algebra/su3.hpp"

namespace staghorn {

// Rebuilds the third row of an SU(3) matrix: row2 = conj(row0 x row1). Its unit is the square of the unit of the other
// rows. 42 flop.
template <class Real>
STAGHORN_INLINE void complete_third_row(ColorMatrix<Real>& u) {
  STAGHORN_UNROLL
  for (int c = 0; c < 3; ++c) {
    const int a = (c + 1) % 3, b = (c + 2) % 3;
    const Complex<Real>&p = u.e[0][a], &q = u.e[1][b], &s = u.e[0][b], &t = u.e[1][a];
    Real re = p.re * q.re, im = p.re * q.im;
    re = multiply_add(-p.im, q.im, re);
    im = multiply_add(p.im, q.re, im);
    re = multiply_add(-s.re, t.re, re);
    im = multiply_add(-s.re, t.im, im);
    re = multiply_add(s.im, t.im, re);
    im = multiply_add(-s.im, t.re, im);
    u.e[2][c] = {re, -im};
  }
}

// For a real type: the unsigned integer of the same size, and the number of the sign bit.
template <class Real>
struct BitsOf;
template <>
struct BitsOf<std::int16_t> {
  using type = std::uint16_t;
};
template <>
struct BitsOf<double> {
  using type = std::uint64_t;
  static constexpr int sign = 63;
};
template <>
struct BitsOf<float> {
  using type = std::uint32_t;
  static constexpr int sign = 31;
};
#if !defined(__CUDACC__)
template <IsLanes Vector>
struct BitsOf<Vector> {
  using Lane = BitsOf<LaneElement<Vector>>;
  using type = Lanes<typename Lane::type, sizeof(Vector) / sizeof(LaneElement<Vector>)>;
  static constexpr int sign = Lane::sign;
};
#endif

// Returns x, with its sign turned if the lowest bit of the stored y is set.
template <class Stored, class Real>
STAGHORN_INLINE Real turn_sign(Real x, Real y) {
  using Bits = typename BitsOf<Real>::type;
  if constexpr (is_fixed_point<Stored>) y = y + 0x1.8p23f;  // moves the integer's lowest bit to the lowest of all
  return __builtin_bit_cast(Real, __builtin_bit_cast(Bits, x) ^ (__builtin_bit_cast(Bits, y) << BitsOf<Real>::sign));
}

// Rebuilds a link from its eight stored reals. 70 operations, 24 of them for the third row, and one division.
template <class Stored, class Real>
STAGHORN_INLINE ColorMatrix<Real> rebuild_link(const Real (&stored)[8]) {
  const Real one = Real{} + 1;
  Real y[8];
  STAGHORN_UNROLL
  for (int i = 0; i < 8; ++i) {
    y[i] = stored[i];
    if constexpr (is_fixed_point<Stored>) y[i] = y[i] * (1.0f / 32767);
  }
  const Real t2 = multiply_add(y[0], y[0], one);
  Real h2 = t2, k2 = one;
  STAGHORN_UNROLL
  for (int i = 1; i < 5; ++i) h2 = multiply_add(y[i], y[i], h2);
  STAGHORN_UNROLL
  for (int i = 5; i < 8; ++i) k2 = multiply_add(y[i], y[i], k2);
  const Real t2_k2 = t2 * k2;
  const Real two = (one + one) / (h2 * t2_k2);  // over all three

  ColorMatrix<Real> u;
  const Real s = turn_sign<Stored>(two * t2_k2, stored[4]);
  u.e[0][0] = {s - turn_sign<Stored>(one, stored[4]), s * y[0]};
  u.e[0][1] = {s * y[1], s * y[2]};
  u.e[0][2] = {s * y[3], s * y[4]};

  const Real s1 = turn_sign<Stored>(two * (h2 * t2), stored[7]);
  const Complex<Real> p = {y[1], y[2]}, q = {y[3], y[4]};
  const Complex<Real> alpha = {s1 - turn_sign<Stored>(one, stored[7]), s1 * y[5]}, beta = {s1 * y[6], s1 * y[7]};
  Complex<Real> m = {p.re * alpha.re, p.re * alpha.im};
  m.re = multiply_add(p.im, alpha.im, m.re);
  m.im = multiply_add(-p.im, alpha.re, m.im);
  m = multiply_add({q.re, -q.im}, beta, m);
  const Real factor = two * k2;
  const Complex<Real> minus_g = {factor * multiply_add(y[0], m.im, -m.re), factor * multiply_add(-y[0], m.re, -m.im)};
  u.e[1][0] = {multiply_add(-y[0], minus_g.im, minus_g.re), multiply_add(y[0], minus_g.re, minus_g.im)};
  u.e[1][1] = multiply_add(minus_g, p, alpha);
  u.e[1][2] = multiply_add(minus_g, q, beta);
  complete_third_row(u);
  return u;
}

// Multiplies the third row by the determinant that `stored` stands for. 24 operations and one division.
template <class Stored, class Real>
STAGHORN_INLINE void turn_third_row(ColorMatrix<Real>& u, const Real& stored) {
  const Real one = Real{} + 1;
  Real y = stored;
  if constexpr (is_fixed_point<Stored>) y = y * (1.0f / 32767);
  const Real s = (one + one) / multiply_add(y, y, one);
  const Real re = turn_sign<Stored>(s - one, stored), im = turn_sign<Stored>(s * y, stored);
  STAGHORN_UNROLL
  for (int c = 0; c < 3; ++c) {
    const Complex<Real> e = u.e[2][c];
    u.e[2][c] = {multiply_add(-im, e.im, re * e.re), multiply_add(im, e.re, re * e.im)};
  }
}

// Returns the link, in units of link_unit and third_row_unit, from the reals it is stored as: three rows, two rows, the
// eight reals above, or one of the last two with the determinant.
template <class Stored, class Real, int Reals>
STAGHORN_INLINE ColorMatrix<Real> link_from_reals(const Real (&reals)[Reals]) {
  ColorMatrix<Real> u;
  if constexpr (Reals == 8) {
    u = rebuild_link<Stored>(reals);
  } else if constexpr (Reals == 9) {
    u = rebuild_link<Stored, Real>({reals[0], reals[1], reals[2], reals[3], reals[4], reals[5], reals[6], reals[7]});
  } else {
    STAGHORN_UNROLL
    for (int k = 0; k < Reals / 2; ++k) u.e[k / 3][k % 3] = {reals[2 * k], reals[2 * k + 1]};
    if constexpr (Reals == 12 || Reals == 13) complete_third_row(u);
  }
  if constexpr (Reals == 9 || Reals == 13) turn_third_row<Stored>(u, reals[Reals - 1]);
  return u;
}

// The stored form of a coordinate whose lowest bit carries a sign.
template <class Stored>
STAGHORN_INLINE Stored stored_with_bit(double value, bool bit) {
  using Bits = typename BitsOf<Stored>::type;
  return std::bit_cast<Stored>(Bits((std::bit_cast<Bits>(stored_link_real<Stored>(value)) & ~Bits{1}) | Bits(bit)));
}

// The inverse of rebuild_link: writes y such that rebuild_link(y) is u, to some roundings. A coordinate that carries a
// sign is rounded to the next number that ends in the right bit. Returns whether all coordinates have a stored form.
template <class Stored>
STAGHORN_INLINE bool compress_link(const ColorMatrix<double>& u, Stored* y) {
  bool fits = true;
  const auto put = [&](double value) {
    fits = fits && link_real_fits<Stored>(value);
    return stored_link_real<Stored>(value);
  };
  const auto put_with_bit = [&](double value, bool bit) {
    fits = fits && link_real_fits<Stored>(value);
    return stored_with_bit<Stored>(value, bit);
  };
  const Complex<double>(&a)[3] = u.e[0], (&b)[3] = u.e[1];
  const bool turn_a = a[0].re < 0;
  const double scale = turn_a ? 1 / (a[0].re - 1) : 1 / (a[0].re + 1);  // A + (1, 0, 0) = h / scale
  const double y0 = scale * a[0].im, t2 = y0 * y0 + 1;
  const Complex<double> p = {scale * a[1].re, scale * a[1].im}, q = {scale * a[2].re, scale * a[2].im};
  const Complex<double> g = {-(b[0].re + y0 * b[0].im) / t2, (y0 * b[0].re - b[0].im) / t2};  // B_0 = -g t
  const Complex<double> alpha = multiply_add(g, p, b[1]), beta = multiply_add(g, q, b[2]);
  const bool turn_b = alpha.re < 0;
  const double scale_b = turn_b ? 1 / (alpha.re - 1) : 1 / (alpha.re + 1);
  y[0] = put(y0);
  y[1] = put(p.re), y[2] = put(p.im);
  y[3] = put(q.re), y[4] = put_with_bit(q.im, turn_a);
  y[5] = put(scale_b * alpha.im);
  y[6] = put(scale_b * beta.re), y[7] = put_with_bit(scale_b * beta.im, turn_b);
  return fits;
}

// The inverse of turn_third_row: writes the real that stands for the determinant of u. Its modulus does not matter.
template <class Stored>
STAGHORN_INLINE bool compress_determinant(const ColorMatrix<double>& u, Stored* y) {
  ColorMatrix<double> v = u;
  complete_third_row(v);
  Complex<double> det = {0, 0};  // row 2 times the conjugate of what SU(3) has there
  for (int c = 0; c < 3; ++c) {
    const Complex<double>&a = v.e[2][c], &b = u.e[2][c];
    det = multiply_add({a.re, -a.im}, b, det);
  }
  const bool turn = det.re < 0;
  const double modulus = std::sqrt(multiply_add(det.re, det.re, det.im * det.im));
  const double value = turn ? det.im / (det.re - modulus) : det.im / (det.re + modulus);
  *y = stored_with_bit<Stored>(value, turn);
  return link_real_fits<Stored>(value);
}

// Writes the `reals` reals that a link is stored as. Returns whether all of them have a stored form.
template <class Stored>
STAGHORN_INLINE bool store_link(const ColorMatrix<double>& u, int reals, Stored* stored) {
  if (reals == 8) return compress_link(u, stored);
  bool fits = true;
  if (reals == 9 || reals == 13) fits = compress_determinant(u, stored + --reals);
  if (reals == 8) return compress_link(u, stored) && fits;
  for (int k = 0; k < reals; ++k) {
    const Complex<double>& e = u.e[k / 6][k / 2 % 3];
    const double real = k % 2 == 0 ? e.re : e.im;
    fits = fits && link_real_fits<Stored>(real);
    stored[k] = stored_link_real<Stored>(real);
  }
  return fits;
}

}  // namespace staghorn
