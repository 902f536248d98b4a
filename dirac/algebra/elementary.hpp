// The logarithm from + - * / and fma alone, so that every processor and device returns the same bits. (Versions of the
// C library differ in the last bit.) Host and device.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

#include "dirac/algebra/su3.hpp"

namespace staghorn {

// Natural logarithm of a positive, normal, finite x; within one unit in the last place of the true value.
//
// x = 2^e (1 + f) with 1 + f in [sqrt(1/2), sqrt(2)). With s = f / (2 + f), |s| < 0.172,
// log(1 + f) = 2 artanh(s) = 2s + s R,  R = 2 (s^2/3 + s^4/5 + ...),  and since 2s = f - s f,
// log(1 + f) = f - s (f - R): the leading term f is exact, the rest at most a fifth of it.
STAGHORN_INLINE double portable_log(double x) {
  constexpr double ln2_high = 0x1.62e42fefa38p-1, ln2_low = 0x1.ef35793c7673p-45;  // e ln2_high is exact
  const std::uint64_t bits = std::bit_cast<std::uint64_t>(x);
  int e = int(bits >> 52) - 1023;
  double m = std::bit_cast<double>((bits & 0x000FFFFFFFFFFFFFull) | 0x3FF0000000000000ull);  // in [1, 2)
  if (m >= 0x1.6a09e667f3bcdp0) {
    m *= 0.5;
    ++e;
  }
  const double f = m - 1;
  const double s = f / (2 + f), z = s * s;
  // 1/3 + z/5 + z^2/7 + ...: the first term left out, z^11/25, is below 2^-60.
  double series = 1.0 / 23;
  for (int denominator = 21; denominator >= 3; denominator -= 2) series = multiply_add(series, z, 1.0 / denominator);
  const double rest = s * (f - 2 * z * series);
  return e * ln2_high + (f - (rest - e * ln2_low));
}

}  // namespace staghorn
