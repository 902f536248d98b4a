// "fp16": numbers are stored as 16-bit integers and computed with in float. CPU and GPU share the formulas, hence the
// bits.
//
//   colour vector   six integers q and one float, the unit of the site:  v_k = q_k unit,  unit = max |v_k| / 32767
//   link            integers in the unit 1/32767; |U_ij| <= 1 for unitary links. Others, such as fat links, are divided
//                   by one scale for the whole lattice (KernelLinks::scale)
//
// A vector takes 16 bytes a site, a third of fp64. The rounding error is 2^-16 of the largest component of a site.
#pragma once

#include <cmath>
#include <cstdint>

#include "dirac/algebra/su3.hpp"

namespace staghorn {

// The type that computes with numbers stored as double, float or int16.
template <class Stored>
struct ArithmeticOf {
  using type = Stored;
};
template <>
struct ArithmeticOf<std::int16_t> {
  using type = float;
};
template <class Stored>
using Arithmetic = typename ArithmeticOf<Stored>::type;

template <class Stored>
constexpr bool is_fixed_point = sizeof(Stored) == 2;
// How many stored reals a colour vector takes the room of. With int16: six numbers, and the unit in the room of two.
template <class Stored>
constexpr int vector_places = is_fixed_point<Stored> ? 8 : 6;
// The unit of a link's elements once a link of `Reals` reals is read.
template <class Stored, int Reals>
constexpr Arithmetic<Stored> link_unit = is_fixed_point<Stored>&& Reals != 8 && Reals != 9
                                             ? Arithmetic<Stored>(1.0 / 32767)
                                             : 1;
// The unit of the third row, relative to link_unit: with 12 or 13 reals the third row is a product of the other two.
template <class Stored, int Reals>
constexpr Arithmetic<Stored> third_row_unit = Reals == 12 || Reals == 13 ? link_unit<Stored, Reals> : 1;

// Rounds a vector. The low 16 bits of q_k become its integers; returned is the unit, 0 where all |v_k| < 2^-100. NaN
// and infinity end up in the unit, so that norms show them. Real is float or lanes of float, Bits is int32 or lanes of
// int32.
template <class Bits, class Real>
STAGHORN_INLINE Real to_fixed_point(const Real (&v)[6], Bits (&q)[6]) {
  Bits largest_bits{};  // without the sign, bits are ordered like the numbers, NaN above all
  STAGHORN_UNROLL
  for (int k = 0; k < 6; ++k) {
    const Bits magnitude = __builtin_bit_cast(Bits, v[k]) & 0x7fffffff;
    largest_bits = magnitude > largest_bits ? magnitude : largest_bits;
  }
  const Real zero{}, largest = __builtin_bit_cast(Real, largest_bits);
  const Real per_unit = largest < 0x1p-100f ? zero : 32767.0f / largest;
  STAGHORN_UNROLL
  for (int k = 0; k < 6; ++k)  // adding 1.5 2^23 leaves the nearest integer in the low bits
    q[k] = __builtin_bit_cast(Bits, multiply_add(v[k], per_unit, zero + 0x1.8p23f));
  return largest < 0x1p-100f ? zero : largest * (1.0f / 32767);
}

// Whether a link element, or a coordinate of a link, has a stored form. In fixed point |value| <= 1, up to rounding;
// NaN has none.
template <class Stored>
STAGHORN_INLINE bool link_real_fits(double value) {
  if constexpr (!is_fixed_point<Stored>) return true;
  return std::fabs(value) * 32767 < 32767.5;
}

// The stored form. Numbers that do not fit become the nearest that does: whoever packs links refuses them.
template <class Stored>
STAGHORN_INLINE Stored stored_link_real(double value) {
  if constexpr (!is_fixed_point<Stored>) return Stored(value);
  const double within = value > 1 ? 1 : value < -1 ? -1 : value;
  return Stored((within * 32767 + 0x1.8p52) - 0x1.8p52);
}

}  // namespace staghorn
