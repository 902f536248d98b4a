// "fp16": numbers kept as 16-bit integers, computed with in float. The same formula, hence the same bits, on every
// side.
//
//   colour vector   six integers q and one float, the unit of the site:  v_k = q_k unit,  unit = max |v_k| / 32767
//   link            integers in the unit 1/32767: |U_ij| <= 1 needs no scale of its own
//
// A vector takes 16 bytes a site, a third of fp64; rounding is 2^-16 of the largest component of a site.
#pragma once

#include <cstdint>

#include "dirac/algebra/precision.hpp"
#include "dirac/algebra/su3.hpp"

namespace staghorn {

// What numbers stored as double, float or int16 are computed with.
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
// Places of a stored real that a colour vector takes: of int16 six numbers, and the unit in the room of two.
template <class Stored>
constexpr int vector_places = is_fixed_point<Stored> ? 8 : 6;
// What the elements of a link of `Reals` reals come in units of, once it is read.
template <class Stored, int Reals>
constexpr Arithmetic<Stored> link_unit = is_fixed_point<Stored>&& Reals != 8 ? Arithmetic<Stored>(1.0 / 32767) : 1;
// And those of its third row in units of that, where it is a product of the other two.
template <class Stored, int Reals>
constexpr Arithmetic<Stored> third_row_unit = Reals == 12 ? link_unit<Stored, Reals> : 1;

// Calls work(pointer) with `data` as pointer to what `precision` stores.
template <class Work>
void with_stored(Precision precision, const void* data, const Work& work) {
  switch (precision) {
    case Precision::fp64:
      return work(static_cast<const double*>(data));
    case Precision::fp32:
      return work(static_cast<const float*>(data));
    case Precision::fp16:
      return work(static_cast<const std::int16_t*>(data));
  }
}
template <class Work>
void with_stored(Precision precision, void* data, const Work& work) {
  with_stored(precision, static_cast<const void*>(data),
              [&]<class Stored>(const Stored* stored) { work(const_cast<Stored*>(stored)); });
}

// Rounds a vector: the low 16 bits of q_k are its integers; returns the unit, 0 where all |v_k| < 2^-100. NaN and
// infinity end up in the unit, so that norms show them. Real: float or lanes of it, Bits: int32 alike.
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

// The stored form of a link element, or of a coordinate of a link.
template <class Stored>
STAGHORN_INLINE Stored stored_link_real(double value) {
  if constexpr (!is_fixed_point<Stored>) return Stored(value);
  const double within = value > 1 ? 1 : value < -1 ? -1 : value;
  return Stored((within * 32767 + 0x1.8p52) - 0x1.8p52);
}

}  // namespace staghorn
