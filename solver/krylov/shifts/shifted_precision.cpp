#include "solver/krylov/shifts/shifted_precision.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "solver/krylov/iteration_cost.hpp"
#include "solver/request/operator_request.hpp"

namespace staghorn {

namespace {

// More iterations than this share of the unknowns are too many for fp32.
constexpr double most_unknowns_share = 0.25;

// What a pass in fp32 leaves of the residual of the smallest mass, in units of |b|. Of others it leaves less, as the
// square of their masses (decision 032).
constexpr double left_by_fp32 = 1e-6;

// Iterations that take the residual down by `factor`: |r| / |b| = 2 exp(-2 n / sqrt(kappa)), where A has eigenvalues
// from 4m^2 to about 20 + 4m^2.
double iterations_of(double mass, double factor) {
  return std::sqrt(1 + 5 / (mass * mass)) / 2 * std::log(std::max(1.0, factor));
}

double bytes_of_iteration(const SessionOptions& options) {
  const OperatorOptions d = operator_options(options, 1, -1);
  return bytes_per_iteration(hop_cost(d.precision, d.form(), 1));
}

}  // namespace

ShiftedPrecision shifted_precision(const SessionOptions& options, const Extents& lattice,
                                   std::span<const double> masses, double deflated, double tolerance) {
  const double smallest = std::hypot(*std::min_element(masses.begin(), masses.end()), deflated);
  if (options.sloppy != Precision::fp32 || !(smallest > 0)) return ShiftedPrecision::precise;
  double unknowns = 1.5;  // 3 on each site of a parity
  for (const int extent : lattice) unknowns *= extent;
  if (iterations_of(smallest, 2 / tolerance) > most_unknowns_share * unknowns) return ShiftedPrecision::precise;
  double polishing = 0;
  for (const double mass : masses) {
    const double deflated_mass = std::hypot(mass, deflated), ratio = smallest / deflated_mass;
    polishing += iterations_of(deflated_mass, left_by_fp32 * ratio * ratio / tolerance);
  }
  const bool few_to_polish = polishing * bytes_of_iteration(iterated_options(options)) <=
                             iterations_of(smallest, left_by_fp32 / tolerance) * bytes_of_iteration(options);
  return few_to_polish ? ShiftedPrecision::precise_at_first : ShiftedPrecision::precise_then_sloppy;
}

ChangeOfPrecision change_of_precision(ShiftedPrecision in) {
  if (in == ShiftedPrecision::precise_at_first) return {0.1, 0};
  return {0.01, rounding_of_products(Precision::fp32)};  // before that fall x is far from what it will be
}

double rounding_of_products(Precision precision) {
  return 0.5 * (precision == Precision::fp64 ? std::numeric_limits<double>::epsilon()
                                             : double(std::numeric_limits<float>::epsilon()));
}

}  // namespace staghorn
