// Counter-based random numbers: Philox4x32-10 [Salmon, Moraes, Dror & Shaw, "Parallel Random Numbers: As Easy as 1, 2,
// 3", SC11], and streams of uniform numbers keyed by where and what for they are drawn.
//
// A number depends on (seed, purpose, step, global site, draw) and on nothing else, so every process grid, number of
// threads and device draws the same. Host and device. Nothing here allocates or holds global state.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>

#include "dirac/algebra/elementary.hpp"
#include "dirac/algebra/su3.hpp"

namespace staghorn {

using PhiloxCounter = std::array<std::uint32_t, 4>;
using PhiloxKey = std::array<std::uint32_t, 2>;

// Four random words from a counter and a key: ten rounds of two 32x32 -> 64 bit products, swapped and mixed.
STAGHORN_INLINE PhiloxCounter philox4x32(PhiloxCounter c, PhiloxKey k) {
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t product0 = std::uint64_t{0xD2511F53u} * c[0];
    const std::uint64_t product1 = std::uint64_t{0xCD9E8D57u} * c[2];
    c = {std::uint32_t(product1 >> 32) ^ c[1] ^ k[0], std::uint32_t(product1),
         std::uint32_t(product0 >> 32) ^ c[3] ^ k[1], std::uint32_t(product0)};
    k = {k[0] + 0x9E3779B9u, k[1] + 0xBB67AE85u};  // golden ratio, sqrt(3) - 1
  }
  return c;
}

// The purpose of a stream: streams of different purposes never share a number.
enum class RandomPurpose : std::uint32_t {
  hot_start = 1,
  heatbath = 2,
  z2_noise = 3,
  gaussian_noise = 4,
  lanczos_start = 5,
  z2_wall = 6,
  u1_wall = 7
};

// The numbers of one purpose, step (sweep, or number of the noise vector), global site and sub-stream, in draw order.
class RandomStream {
 public:
  // `site` < 2^48 (Lattice::global_site_index), `substream` < 256 (for instance a direction and a subgroup).
  STAGHORN_INLINE RandomStream(std::uint64_t seed, RandomPurpose purpose, std::uint32_t step, std::uint64_t site,
                               std::uint32_t substream = 0)
      : key_{std::uint32_t(seed), std::uint32_t(seed >> 32)},
        counter_{0, step, std::uint32_t(site),
                 std::uint32_t(site >> 32) | substream << 16 | std::uint32_t(purpose) << 24} {}

  // 64 random bits.
  STAGHORN_INLINE std::uint64_t bits() {
    half_ = !half_;
    if (half_) {
      block_ = philox4x32(counter_, key_);
      ++counter_[0];
      return std::uint64_t{block_[1]} << 32 | block_[0];
    }
    return std::uint64_t{block_[3]} << 32 | block_[2];
  }

  // Uniform in the open interval (0, 1): odd multiples of 2^-53, so neither end occurs and the logarithm is finite.
  STAGHORN_INLINE double uniform() { return (double(bits() >> 12) + 0.5) * 0x1p-52; }

  // Uniform in the unit disc without its centre; returns |point|^2 in (0, 1). By rejection: no trigonometry.
  STAGHORN_INLINE double point_in_disc(double& u, double& v) {
    double s;
    do {
      u = 2 * uniform() - 1;
      v = 2 * uniform() - 1;
      s = multiply_add(u, u, v * v);
    } while (s >= 1 || s == 0);
    return s;
  }

 private:
  PhiloxKey key_;
  PhiloxCounter counter_, block_{};
  bool half_ = false;
};

// A complex number of modulus 1 with a uniform phase: the square of a point in the disc, divided by its modulus.
STAGHORN_INLINE Complex<double> random_phase(RandomStream& random) {
  double u, v;
  const double s = random.point_in_disc(u, v);
  return {(u - v) * (u + v) / s, 2 * u * v / s};
}

// Two independent normal numbers of variance 1/2 as the parts of a complex one, <|z|^2> = 1: the polar method
// [Marsaglia & Bray 1964].
STAGHORN_INLINE Complex<double> complex_gaussian(RandomStream& random) {
  double u, v;
  const double s = random.point_in_disc(u, v);
  const double scale = std::sqrt(-portable_log(s) / s);
  return {scale * u, scale * v};
}

}  // namespace staghorn
