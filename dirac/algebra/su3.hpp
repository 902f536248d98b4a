// Complex numbers, colour vectors and 3x3 colour matrices over any real type: double, float, or a vector of lanes.
//
// STAGHORN_UNROLL unrolls the loop below it everywhere. STAGHORN_DIRECTIONS does so on a GPU as far as an Access wants,
// and not on the CPU. Every multiply-add is an explicit fma in one fixed order, so that every compiler, instruction set
// and device gives the same bits (build with contraction off). Nothing here allocates.
#pragma once

#include <cmath>

#if defined(__CUDACC__)
#define STAGHORN_INLINE __host__ __device__ __forceinline__
#define STAGHORN_UNROLL _Pragma("unroll")
#define STAGHORN_DIRECTIONS _Pragma("unroll (Access::directions_at_once)")
#else
#include "dirac/algebra/lanes.hpp"
#define STAGHORN_INLINE inline __attribute__((always_inline))
#define STAGHORN_UNROLL _Pragma("GCC unroll 16")
#define STAGHORN_DIRECTIONS _Pragma("GCC unroll 1")
#endif

namespace staghorn {

STAGHORN_INLINE double multiply_add(double a, double b, double c) { return __builtin_fma(a, b, c); }
STAGHORN_INLINE float multiply_add(float a, float b, float c) { return __builtin_fmaf(a, b, c); }

template <class Real>
struct Complex {
  Real re, im;
};

// acc + a b
template <class Real>
STAGHORN_INLINE Complex<Real> multiply_add(const Complex<Real>& a, const Complex<Real>& b, Complex<Real> acc) {
  acc.re = multiply_add(a.re, b.re, acc.re);
  acc.im = multiply_add(a.re, b.im, acc.im);
  acc.re = multiply_add(-a.im, b.im, acc.re);
  acc.im = multiply_add(a.im, b.re, acc.im);
  return acc;
}

// acc - conj(a) b
template <class Real>
STAGHORN_INLINE Complex<Real> conjugate_multiply_subtract(const Complex<Real>& a, const Complex<Real>& b,
                                                          Complex<Real> acc) {
  acc.re = multiply_add(-a.re, b.re, acc.re);
  acc.im = multiply_add(-a.re, b.im, acc.im);
  acc.re = multiply_add(-a.im, b.im, acc.re);
  acc.im = multiply_add(a.im, b.re, acc.im);
  return acc;
}

template <class Real>
struct ColorVector {
  Complex<Real> c[3];
};

template <class Real>
struct ColorMatrix {
  Complex<Real> e[3][3];  // row, column
};

// out += U v
template <class Real>
STAGHORN_INLINE void multiply_add(ColorVector<Real>& out, const ColorMatrix<Real>& u, const ColorVector<Real>& v) {
  STAGHORN_UNROLL
  for (int j = 0; j < 3; ++j) STAGHORN_UNROLL
  for (int i = 0; i < 3; ++i) out.c[i] = multiply_add(u.e[i][j], v.c[j], out.c[i]);
}

// out -= U^dagger v
template <class Real>
STAGHORN_INLINE void adjoint_multiply_subtract(ColorVector<Real>& out, const ColorMatrix<Real>& u,
                                               const ColorVector<Real>& v) {
  STAGHORN_UNROLL
  for (int j = 0; j < 3; ++j) STAGHORN_UNROLL
  for (int i = 0; i < 3; ++i) out.c[i] = conjugate_multiply_subtract(u.e[j][i], v.c[j], out.c[i]);
}

}  // namespace staghorn
