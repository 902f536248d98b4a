// The unitary matrix nearest to a 3x3 matrix, W = V (V^dagger V)^(-1/2), by + - * / sqrt and fma alone: host and device
// have the same bits, and no angle is ever computed.
//
// One-sided Jacobi [Hestenes 1958; Demmel & Veselic 1992]: rotations of the columns of V, V R = G, until the columns of
// G are orthogonal. Their lengths are the singular values s, and W = G s^-1 R^dagger. The number of rotations is fixed.
// Errors are eps / s for the smallest singular value s relative to the largest, the best that any method can do; the
// eigenvalues of V^dagger V, which other codes take, lose eps / s^2.
#pragma once

#include "dirac/algebra/su3_matrix.hpp"

namespace staghorn {

// A V that is not finite or has rank below three has singular[2] = 0, and `unitary` is then undefined.
struct UnitaryProjection {
  ColorMatrix<double> unitary;
  double singular[3];  // in falling order
};

// Rotates columns p and q of `g` until they are orthogonal, and those of `r` alike.
STAGHORN_INLINE void rotate_columns(ColorMatrix<double>& g, ColorMatrix<double>& r, int p, int q) {
  double alpha = 0, beta = 0;   // |g_p|^2, |g_q|^2
  Complex<double> gamma{0, 0};  // g_p^dagger g_q
  STAGHORN_UNROLL
  for (int i = 0; i < 3; ++i) {
    alpha = add_norm2(g.e[i][p], alpha);
    beta = add_norm2(g.e[i][q], beta);
    gamma = multiply_add(conjugate(g.e[i][p]), g.e[i][q], gamma);
  }
  // t^2 + 2 zeta t = 1: the smaller root turns the columns by at most an eighth of a circle.
  const double size = std::sqrt(add_norm2(gamma, 0.0));
  const bool orthogonal = !(size > 0);
  const double safe = orthogonal ? 1 : size;
  const double zeta = (beta - alpha) / (2 * safe);
  const double root = 1 / (std::fabs(zeta) + std::sqrt(multiply_add(zeta, zeta, 1.0)));
  const double t = orthogonal ? 0 : zeta < 0 ? -root : root;
  const double c = 1 / std::sqrt(multiply_add(t, t, 1.0)), s = c * t;
  const Complex<double> turn = {s * (gamma.re / safe), s * (gamma.im / safe)};
  STAGHORN_UNROLL
  for (int i = 0; i < 3; ++i) {
    // g_p = c g_p - conj(turn) g_q;  g_q = turn g_p + c g_q
    const Complex<double> gp = g.e[i][p], gq = g.e[i][q], rp = r.e[i][p], rq = r.e[i][q];
    g.e[i][p] = multiply_add(Complex<double>{-turn.re, turn.im}, gq, c * gp);
    g.e[i][q] = multiply_add(turn, gp, c * gq);
    r.e[i][p] = multiply_add(Complex<double>{-turn.re, turn.im}, rq, c * rp);
    r.e[i][q] = multiply_add(turn, rp, c * rq);
  }
}

// W (3 - W^dagger W) / 2: brings a matrix that is unitary up to roundings to one that is as unitary as doubles allow.
STAGHORN_INLINE ColorMatrix<double> polish_unitary(const ColorMatrix<double>& w) {
  ColorMatrix<double> defect = adjoint(w) * w;
  STAGHORN_UNROLL
  for (int i = 0; i < 3; ++i) STAGHORN_UNROLL
  for (int j = 0; j < 3; ++j) {
    const double one = i == j ? 1 : 0;
    defect.e[i][j] = {0.5 * (one - defect.e[i][j].re), -0.5 * defect.e[i][j].im};
  }
  ColorMatrix<double> result = w;
  add_product(result, w, defect);
  return result;
}

// About 2500 flop.
STAGHORN_INLINE UnitaryProjection project_unitary(const ColorMatrix<double>& v) {
  constexpr int sweeps = 5;  // four suffice for condition numbers up to 10^12
  ColorMatrix<double> g = v, r = identity_matrix<double>();
  for (int sweep = 0; sweep < sweeps; ++sweep) {
    rotate_columns(g, r, 0, 1);
    rotate_columns(g, r, 0, 2);
    rotate_columns(g, r, 1, 2);
  }
  double length[3];
  ColorMatrix<double> w{};
  STAGHORN_UNROLL
  for (int k = 0; k < 3; ++k) {
    double length2 = 0;
    STAGHORN_UNROLL
    for (int i = 0; i < 3; ++i) length2 = add_norm2(g.e[i][k], length2);
    length[k] = std::sqrt(length2);
    STAGHORN_UNROLL
    for (int i = 0; i < 3; ++i) g.e[i][k] = {g.e[i][k].re / length[k], g.e[i][k].im / length[k]};
  }
  add_product(w, g, adjoint(r));

  UnitaryProjection result;
  result.unitary = polish_unitary(w);
  const auto order = [](double& a, double& b) {
    const double larger = a < b ? b : a, smaller = a < b ? a : b;
    a = larger, b = smaller;
  };
  order(length[0], length[1]);
  order(length[1], length[2]);
  order(length[0], length[1]);
  // Below the rounding of the largest the smallest says nothing, nor does the direction that goes with it.
  const bool sound = length[0] < 1e150 && length[2] > 0x1p-52 * length[0];
  for (int k = 0; k < 3; ++k) result.singular[k] = sound || k < 2 ? length[k] : 0;
  return result;
}

// d^(1/3) on the unit circle, the root whose angle is a third of that of d in (-pi, pi].
STAGHORN_INLINE Complex<double> cube_root_of_phase(const Complex<double>& d) {
  // The root of half the angle, for d on the unit circle.
  const auto half = [](const Complex<double>& z) {
    const double re = std::sqrt(0.5 * (1 + std::fabs(z.re))), im = 0.5 * z.im / re;
    const bool right = z.re >= 0;  // else the larger part is the imaginary one
    return right ? Complex<double>{re, im} : Complex<double>{std::fabs(im), z.im < 0 ? -re : re};
  };
  // 1/3 = 1/4 + 1/16 + 1/64 + ...; Newton's steps double the digits of what is left.
  const Complex<double> fourth = half(half(d)), sixteenth = half(half(fourth)), last = half(half(sixteenth));
  Complex<double> z = fourth * sixteenth * last;
  STAGHORN_UNROLL
  for (int step = 0; step < 4; ++step) {
    // z = (2 z + d / z^2) / 3,  1 / z = conj(z) / |z|^2
    const double size2 = add_norm2(z, 0.0);
    const Complex<double> inverse = {z.re / size2, -z.im / size2}, target = d * (inverse * inverse);
    z = {multiply_add(2.0, z.re, target.re) / 3, multiply_add(2.0, z.im, target.im) / 3};
  }
  return z;
}

// W det(W)^(-1/3), in SU(3), for a unitary W: the root of the determinant nearest to 1.
STAGHORN_INLINE ColorMatrix<double> without_determinant_phase(const ColorMatrix<double>& w) {
  Complex<double> d = determinant(w);
  const double size = std::sqrt(add_norm2(d, 0.0));
  d = {d.re / size, d.im / size};
  const Complex<double> factor = conjugate(cube_root_of_phase(d));
  ColorMatrix<double> result;
  STAGHORN_UNROLL
  for (int i = 0; i < 3; ++i) STAGHORN_UNROLL
  for (int j = 0; j < 3; ++j) result.e[i][j] = factor * w.e[i][j];
  return result;
}

}  // namespace staghorn
