// Products of colour vectors over one cell of 2^4 sites, and their exact sums: one text for CPU and CUDA.
//
// The product conj(a) b of a cell is a sum of 24 complex products in double: 8 sites in order, 3 colours each. Three
// real chains of fma take the place of four:
//
//   rr = sum re a re b,   ii = sum im a im b,   mixed = sum (re a + im a) (re b - im b)
//   Re conj(a) b = rr + ii,   Im conj(a) b = (rr - ii) - mixed
//
// Each chain rounds 24 times: a cell's product is within 80 2^-53 |a_cell| |b_cell| of the true one at worst. The sum
// over cells is exact: each product is rounded to a grid of 2^-71 (see exact_sum.hpp) and added as integers.
#pragma once

#include "dirac/algebra/su3.hpp"

namespace staghorn {

// Columns are scaled by powers of two such that the squared norm of a cell is at most `most`. Products of two such
// cells fit the grid with room for their own rounding. Where the largest cell of a column lies below `least`, the
// column is scaled up.
struct CellGrid {
  static constexpr double most = 0x1p12, least = 0x1p-8;
  static constexpr double bound = 0x1p13;                         // of one product: SumGrid::for_bound(bound)
  static constexpr double u1 = 0x1p-29, u2 = 0x1p-71;             // one unit of the high and of the low limb
  static constexpr double round1 = 0x1.8p23, round2 = 0x1.8p-19;  // adding and subtracting 1.5 2^52 u rounds to u
  static constexpr int capacity = 1024;                           // additions that leave the limbs exact
};

// What a product reads of one complex number of b, and of a.
template <class Real>
struct LeftFactor {
  Real re, im, sum;
};
template <class Real>
struct RightFactor {
  Real re, im, difference;
};

template <class Real>
struct CellProduct {
  Real rr, ii, mixed;  // begin at zero

  STAGHORN_INLINE void add(const LeftFactor<Real>& a, const RightFactor<Real>& b) {
    rr = multiply_add(a.re, b.re, rr);
    ii = multiply_add(a.im, b.im, ii);
    mixed = multiply_add(a.sum, b.difference, mixed);
  }
  STAGHORN_INLINE Complex<Real> value() const { return {rr + ii, (rr - ii) - mixed}; }
};

// The squared norm of a cell, the same bits as the real part of the product of the cell with itself.
template <class Real>
struct CellNorm {
  Real rr, ii;  // begin at zero

  STAGHORN_INLINE void add(Real re, Real im) {
    rr = multiply_add(re, re, rr);
    ii = multiply_add(im, im, ii);
  }
  STAGHORN_INLINE Real value() const { return rr + ii; }
};

// A running sum of reals of both signs, as multiples of u1 and u2; exact for CellGrid::capacity additions.
template <class Real>
struct CellSum {
  Real high, low;  // begin at zero

  STAGHORN_INLINE void add(Real v) {
    const Real rounded = (v + CellGrid::round1) - CellGrid::round1;
    high += rounded;
    low += ((v - rounded) + CellGrid::round2) - CellGrid::round2;
  }
};

}  // namespace staghorn
