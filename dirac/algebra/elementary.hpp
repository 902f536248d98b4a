// The logarithm and roots of unity from + - * / and fma alone, so that every processor and device returns the same
// bits. (Versions of the C library differ in the last bit.) Host and device.
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

// exp(2 pi i k / n) for n > 0, each part within some 2^-53 of the true value; exact where it is 0, 1 or -1.
//
// The circle is folded onto its first octant, in integers: the angle is there a = (pi/4) q / n with 0 <= q <= n, and
// the series of cos(a) and sin(a) have their first term left out, a^20 / 20!, below 2^-67.
STAGHORN_INLINE Complex<double> root_of_unity(std::int64_t k, std::int64_t n) {
  std::int64_t q = 8 * ((k % n + n) % n);
  const bool below = q > 4 * n;  // the real axis
  if (below) q = 8 * n - q;
  const bool left = q > 2 * n;  // of the imaginary axis
  if (left) q = 4 * n - q;
  const bool steep = q > n;  // beyond the diagonal
  if (steep) q = 2 * n - q;
  constexpr double quarter_pi = 0x1.921fb54442d18p-1;
  const double a = quarter_pi * (double(q) / double(n)), a2 = a * a;
  double cosine = 1, sine = 1;
  for (int j = 18; j >= 2; j -= 2) {
    cosine = multiply_add(-a2 / double(j * (j - 1)), cosine, 1.0);
    sine = multiply_add(-a2 / double(j * (j + 1)), sine, 1.0);
  }
  sine *= a;
  const double re = steep ? sine : cosine, im = steep ? cosine : sine;
  return {left ? -re : re, below ? -im : im};
}

}  // namespace staghorn
