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

// To this tolerance a pass in fp32 leaves nothing to polish.
constexpr double reached_in_fp32 = 1e-5;

// |r| / |b| = 2 exp(-2 n / sqrt(kappa)) where A has eigenvalues from 4m^2 to about 20 + 4m^2.
double iterations_of(double mass, double tolerance) {
  return std::sqrt(1 + 5 / (mass * mass)) / 2 * std::log(2 / tolerance);
}

double bytes_of_iteration(const SessionOptions& options, bool in_sloppy) {
  const OperatorOptions d = operator_options(shifted_options(options, in_sloppy), 1, -1);
  return bytes_per_iteration(hop_cost(d.precision, d.form(), 1));
}

}  // namespace

ShiftedPrecision shifted_precision(const SessionOptions& options, const Extents& lattice,
                                   std::span<const double> masses, double deflated, double tolerance) {
  const double smallest = std::hypot(*std::min_element(masses.begin(), masses.end()), deflated);
  if (options.sloppy != Precision::fp32 || !(smallest > 0)) return ShiftedPrecision::precise;
  double sum = 0, unknowns = 1.5;  // 3 on each site of a parity
  for (const double mass : masses) sum += iterations_of(std::hypot(mass, deflated), tolerance);
  for (const int extent : lattice) unknowns *= extent;
  const double longest = iterations_of(smallest, tolerance);
  if (longest > most_unknowns_share * unknowns) return ShiftedPrecision::precise;
  const bool few_to_polish = tolerance >= reached_in_fp32 ||
                             sum / longest <= bytes_of_iteration(options, false) / bytes_of_iteration(options, true);
  return few_to_polish ? ShiftedPrecision::sloppy : ShiftedPrecision::precise_then_sloppy;
}

SessionOptions shifted_options(const SessionOptions& options, bool in_sloppy) {
  return in_sloppy ? iterated_options(options) : options;
}

double rounding_of_products(Precision precision) {
  return 0.5 * (precision == Precision::fp64 ? std::numeric_limits<double>::epsilon()
                                             : double(std::numeric_limits<float>::epsilon()));
}

}  // namespace staghorn
