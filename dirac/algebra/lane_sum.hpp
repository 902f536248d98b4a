// Exact sums inside a kernel: each lane has one running pair of limbs, which is flushed into an integer total now and
// then.
#pragma once

#include <cstdint>

#include "dirac/algebra/exact_sum.hpp"
#include "dirac/algebra/lanes.hpp"

namespace staghorn {

// Adds W doubles at a time. Up to `capacity` calls of add between flushes are exact: each adds |high| <= 2^42 u1, and
// 2^53 u1 fit.
template <int W>
struct LaneSum {
  using Vector = Lanes<double, W>;
  static constexpr int capacity = 1024;
  Vector high{}, low{};
  bool overflow = false;

  __attribute__((always_inline)) void add(Vector v, const SumGrid& grid) {
    const Vector h = (v + grid.round1) - grid.round1;
    high += h;
    low += ((v - h) + grid.round2) - grid.round2;
    worst =
        worst > v ? worst : v;  // contributions are norms, not negative; NaN does not get in here, but shows in high
  }

  void flush(const SumGrid& grid, ExactPartial& partial) {
    for (int l = 0; l < W; ++l) {
      if (!(worst[l] <= grid.bound) || high[l] != high[l]) {
        partial.overflow = true;
      } else {
        partial.total += (static_cast<__int128>(static_cast<std::int64_t>(high[l] / grid.u1)) << 42) +
                         static_cast<std::int64_t>(low[l] / grid.u2);
      }
    }
    *this = {};
  }

 private:
  Vector worst{};
};

}  // namespace staghorn
