// Sums over all sites of the lattice that do not depend on how sites are cut among ranks, threads, lanes or devices.
//
// Each site's contribution v (a double) is split by two exact roundings into limbs on a fixed-point grid whose bound B
// is agreed beforehand: v = h + l + rest, h a multiple of u1 = B 2^-42, l a multiple of u2 = B 2^-84. Limbs are added
// as integers (associative), and the total is rounded to double once. |v| > B or NaN is detected and reported. (The
// idea of bins with error-free transformations: Demmel & Nguyen, "Parallel Reproducible Summation", 2015.)
#pragma once

#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

namespace staghorn {

class Communicator;

// The fixed-point grid for contributions up to `bound` (a power of two) in absolute value.
struct SumGrid {
  double bound = 1;
  double u1 = 0x1p-42, u2 = 0x1p-84;  // one unit of the high and of the low limb
  double round1 = 0, round2 = 0;      // adding and subtracting 1.5 2^52 u rounds to a multiple of u
  // The grid whose bound is the smallest power of two >= |largest|. Local.
  static SumGrid for_bound(double largest);
};

// One partial sum: integers in units of u2 and whether any contribution did not fit.
struct ExactPartial {
  __int128 total = 0;
  bool overflow = false;
  void add(double v, const SumGrid& grid);  // one contribution
  void merge(const ExactPartial& other) {   // those of another partial sum on the same grid
    total += other.total;
    overflow |= other.overflow;
  }
};

inline void ExactPartial::add(double v, const SumGrid& grid) {
  if (!(std::fabs(v) <= grid.bound)) {  // also NaN
    overflow = true;
    return;
  }
  const double high = (v + grid.round1) - grid.round1;
  const double low = ((v - high) + grid.round2) - grid.round2;
  // Both quotients are integers below 2^42 + 1: the divisions by powers of two are exact.
  total += (__int128(std::int64_t(high / grid.u1)) << 42) + std::int64_t(low / grid.u2);
}

// Adds the partial sums of all ranks, each on its own grid, and rounds once to double. Collective. `overflow` (if
// given) tells whether any contribution anywhere did not fit the grid: the value is then NaN and the caller sums again
// on a larger grid.
void reduce(const Communicator& communicator, std::span<ExactPartial> partials, std::span<const SumGrid> grids,
            std::span<double> values, bool* overflow = nullptr);

// Returns the exact sum of an array with one number per site. Chooses its own grid, in a first pass. Collective.
double exact_sum(const Communicator& communicator, std::span<const double> site_values);

// Returns the exact sums of `n_groups` groups, as exact_sum of each: value i belongs to group `groups[i]`, of 0 ..
// n_groups - 1. Collective, in two messages for all of them.
std::vector<double> exact_sums(const Communicator& communicator, std::span<const double> values,
                               std::span<const std::int32_t> groups, std::size_t n_groups);

// Chooses the grids of a sum that is made again and again: the previous result sets the scale of the next grid.
class ExactSum {
 public:
  // The bound of the next contributions is 2^20 times the previous value; before there is one, `first_guess` serves.
  explicit ExactSum(double first_guess) : previous_(first_guess) {}
  SumGrid grid() const { return SumGrid::for_bound(previous_ * 0x1p20); }
  void remember(double value) {
    if (value > 0) previous_ = value;
  }

 private:
  double previous_;
};

}  // namespace staghorn
