#include "dirac/algebra/exact_sum.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "halo/communicator.hpp"

namespace staghorn {

namespace {

// Exponents of the bound: beyond these the rounding constants would overflow, or the low limb would be subnormal.
constexpr int smallest_exponent = -900, largest_exponent = 960;

// A 128-bit total travels as three limbs of 40, 40 and 48 bits: int64 sums of them cannot overflow below 2^15 ranks
// (the top limb holds far fewer bits than 48 in practice).
constexpr int limb_bits = 40;
constexpr std::int64_t limb_mask = (std::int64_t{1} << limb_bits) - 1;

}  // namespace

SumGrid SumGrid::for_bound(double largest) {
  int exponent = largest_exponent;
  if (std::isfinite(largest)) {
    const double mantissa = std::frexp(std::fabs(largest), &exponent);  // |largest| = mantissa 2^exponent
    if (mantissa == 0.5) --exponent;                                    // a power of two is its own bound
    if (mantissa == 0) exponent = smallest_exponent;
  }
  SumGrid grid;
  grid.bound = std::ldexp(1.0, std::clamp(exponent, smallest_exponent, largest_exponent));
  grid.u1 = grid.bound * 0x1p-42;
  grid.u2 = grid.bound * 0x1p-84;
  grid.round1 = 0x1.8p52 * grid.u1;
  grid.round2 = 0x1.8p52 * grid.u2;
  return grid;
}

void reduce(const Communicator& communicator, std::span<ExactPartial> partials, std::span<const SumGrid> grids,
            std::span<double> values, bool* overflow) {
  std::vector<std::int64_t> limbs;
  limbs.reserve(4 * partials.size());
  for (const ExactPartial& partial : partials) {
    limbs.push_back(std::int64_t(partial.total) & limb_mask);
    limbs.push_back(std::int64_t(partial.total >> limb_bits) & limb_mask);
    limbs.push_back(std::int64_t(partial.total >> (2 * limb_bits)));  // carries the sign
    limbs.push_back(partial.overflow);
  }
  communicator.sum(limbs);
  if (overflow) *overflow = false;
  for (std::size_t i = 0; i < partials.size(); ++i) {
    const std::int64_t* limb = &limbs[4 * i];
    const __int128 total =
        ((__int128(limb[2]) * (std::int64_t{1} << limb_bits) + limb[1]) * (std::int64_t{1} << limb_bits)) + limb[0];
    values[i] = double(total) * grids[i].u2;  // the one rounding: int128 to double, to nearest even
    if (limb[3] == 0) continue;
    values[i] = std::numeric_limits<double>::quiet_NaN();
    if (overflow) *overflow = true;
  }
}

double exact_sum(const Communicator& communicator, std::span<const double> site_values) {
  const std::int64_t n = std::int64_t(site_values.size());
  double largest = 0;
#pragma omp parallel for reduction(max : largest)
  for (std::int64_t i = 0; i < n; ++i) largest = std::max(largest, std::fabs(site_values[i]));  // passes over NaN
  const SumGrid grid = SumGrid::for_bound(communicator.max(largest));

  ExactPartial partial;
#pragma omp parallel
  {
    ExactPartial mine;
#pragma omp for nowait
    for (std::int64_t i = 0; i < n; ++i) mine.add(site_values[i], grid);
#pragma omp critical(staghorn_exact_sum)
    partial.merge(mine);
  }
  double value = 0;
  reduce(communicator, {&partial, 1}, {&grid, 1}, {&value, 1});
  return value;
}

std::vector<double> exact_sums(const Communicator& communicator, std::span<const double> values,
                               std::span<const std::int32_t> groups, std::size_t n_groups) {
  const std::int64_t n = std::int64_t(values.size());
  std::vector<double> largest(n_groups);
#pragma omp parallel
  {
    std::vector<double> mine(n_groups);
#pragma omp for nowait
    for (std::int64_t i = 0; i < n; ++i) {
      double& bound = mine[std::size_t(groups[std::size_t(i)])];
      bound = std::max(bound, std::fabs(values[std::size_t(i)]));  // passes over NaN
    }
#pragma omp critical(staghorn_exact_sums)
    for (std::size_t k = 0; k < n_groups; ++k) largest[k] = std::max(largest[k], mine[k]);
  }
  communicator.max(largest);
  std::vector<SumGrid> grids;
  for (const double bound : largest) grids.push_back(SumGrid::for_bound(bound));

  std::vector<ExactPartial> partials(n_groups);
#pragma omp parallel
  {
    std::vector<ExactPartial> mine(n_groups);
#pragma omp for nowait
    for (std::int64_t i = 0; i < n; ++i) {
      const auto k = std::size_t(groups[std::size_t(i)]);
      mine[k].add(values[std::size_t(i)], grids[k]);
    }
#pragma omp critical(staghorn_exact_sums)
    for (std::size_t k = 0; k < n_groups; ++k) partials[k].merge(mine[k]);
  }
  std::vector<double> sums(n_groups);
  reduce(communicator, partials, grids, sums);
  return sums;
}

}  // namespace staghorn
