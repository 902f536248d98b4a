// Products, traces and determinants of 3x3 colour matrices and sums of colour vectors, for the plain host path.
//
// As in dirac/algebra/su3.hpp, every multiply-add is an explicit fma in one fixed order, nothing allocates, and
// everything is inlined into its caller.
#pragma once

#include <array>

#include "dirac/algebra/su3.hpp"

// Code for processors without fma instructions calls the C library for each fma. So the loops over sites of the plain
// path are compiled twice, and the loader takes the copy that suits the processor; both give the same bits. For
// functions without an OpenMP region, which is not copied. The loader cannot run what -fsanitize=thread makes of this.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(__CUDACC__) && \
    !defined(__SANITIZE_THREAD__)
#define STAGHORN_FMA_CLONES __attribute__((target_clones("fma", "default")))
#else
#define STAGHORN_FMA_CLONES
#endif

namespace staghorn {

template <class Real>
STAGHORN_INLINE Complex<Real> operator+(const Complex<Real>& a, const Complex<Real>& b) {
  return {a.re + b.re, a.im + b.im};
}

template <class Real>
STAGHORN_INLINE Complex<Real> operator-(const Complex<Real>& a, const Complex<Real>& b) {
  return {a.re - b.re, a.im - b.im};
}

template <class Real>
STAGHORN_INLINE Complex<Real> operator*(const Complex<Real>& a, const Complex<Real>& b) {
  return multiply_add(a, b, Complex<Real>{0, 0});
}

template <class Real>
STAGHORN_INLINE Complex<Real> operator*(Real s, const Complex<Real>& a) {
  return {s * a.re, s * a.im};
}

template <class Real>
STAGHORN_INLINE Complex<Real> conjugate(const Complex<Real>& a) {
  return {a.re, -a.im};
}

// acc + |a|^2
template <class Real>
STAGHORN_INLINE Real add_norm2(const Complex<Real>& a, Real acc) {
  return multiply_add(a.im, a.im, multiply_add(a.re, a.re, acc));
}

// |v|^2, colours in order
template <class Real>
STAGHORN_INLINE Real norm2(const ColorVector<Real>& v) {
  return add_norm2(v.c[2], add_norm2(v.c[1], add_norm2(v.c[0], Real(0))));
}

// a^dagger b
template <class Real>
STAGHORN_INLINE Complex<Real> dot(const ColorVector<Real>& a, const ColorVector<Real>& b) {
  Complex<Real> sum{0, 0};
  for (int i = 0; i < 3; ++i) sum = multiply_add(conjugate(a.c[i]), b.c[i], sum);
  return sum;
}

template <class Real>
STAGHORN_INLINE ColorMatrix<Real> identity_matrix() {
  ColorMatrix<Real> one{};
  for (int i = 0; i < 3; ++i) one.e[i][i].re = 1;
  return one;
}

template <class Real>
STAGHORN_INLINE ColorMatrix<Real> adjoint(const ColorMatrix<Real>& a) {
  ColorMatrix<Real> result;
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) result.e[i][j] = conjugate(a.e[j][i]);
  return result;
}

// acc += a b
template <class Real>
STAGHORN_INLINE void add_product(ColorMatrix<Real>& acc, const ColorMatrix<Real>& a, const ColorMatrix<Real>& b) {
  STAGHORN_UNROLL
  for (int i = 0; i < 3; ++i) STAGHORN_UNROLL
  for (int k = 0; k < 3; ++k) STAGHORN_UNROLL
  for (int j = 0; j < 3; ++j) acc.e[i][j] = multiply_add(a.e[i][k], b.e[k][j], acc.e[i][j]);
}

// a b
template <class Real>
STAGHORN_INLINE ColorMatrix<Real> operator*(const ColorMatrix<Real>& a, const ColorMatrix<Real>& b) {
  ColorMatrix<Real> result{};
  add_product(result, a, b);
  return result;
}

template <class Real>
STAGHORN_INLINE Complex<Real> trace(const ColorMatrix<Real>& a) {
  return a.e[0][0] + a.e[1][1] + a.e[2][2];
}

// Re tr(a b^dagger); the product itself is not formed
template <class Real>
STAGHORN_INLINE Real real_trace_adjoint(const ColorMatrix<Real>& a, const ColorMatrix<Real>& b) {
  Real sum = 0;
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j)
      sum = multiply_add(a.e[i][j].im, b.e[i][j].im, multiply_add(a.e[i][j].re, b.e[i][j].re, sum));
  return sum;
}

// conj(a x b): the third row of a matrix in SU(3) from the other two
template <class Real>
STAGHORN_INLINE void conjugate_cross(const Complex<Real> (&a)[3], const Complex<Real> (&b)[3], Complex<Real> (&c)[3]) {
  for (int i = 0; i < 3; ++i) {
    const int j = (i + 1) % 3, k = (i + 2) % 3;
    c[i] = conjugate(multiply_add(Complex<Real>{-a[k].re, -a[k].im}, b[j], a[j] * b[k]));
  }
}

template <class Real>
STAGHORN_INLINE Complex<Real> determinant(const ColorMatrix<Real>& a) {
  Complex<Real> cofactor[3];  // conjugate cofactors of the third row
  conjugate_cross(a.e[0], a.e[1], cofactor);
  Complex<Real> sum{0, 0};
  for (int j = 0; j < 3; ++j) sum = multiply_add(conjugate(cofactor[j]), a.e[2][j], sum);
  return sum;
}

// Projects onto SU(3): Gram-Schmidt on the first two rows, the third their conjugate cross product.
STAGHORN_INLINE void project_su3(ColorMatrix<double>& u) {
  auto& row = u.e;
  auto normalise = [](Complex<double>(&v)[3]) __attribute__((always_inline)) {
    const double length = std::sqrt(add_norm2(v[2], add_norm2(v[1], add_norm2(v[0], 0.0))));
    for (auto& element : v) element = {element.re / length, element.im / length};
  };
  normalise(row[0]);
  Complex<double> overlap{0, 0};  // row0^dagger row1
  for (int j = 0; j < 3; ++j) overlap = multiply_add(conjugate(row[0][j]), row[1][j], overlap);
  for (int j = 0; j < 3; ++j) row[1][j] = multiply_add(Complex<double>{-overlap.re, -overlap.im}, row[0][j], row[1][j]);
  normalise(row[1]);
  conjugate_cross(row[0], row[1], row[2]);
}

}  // namespace staghorn
