#include "solver/krylov/shifts/shifted_precision.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "solver/request/operator_request.hpp"

namespace staghorn {

namespace {

// More iterations than this share of the unknowns are too many for fp32.
constexpr double most_unknowns_share = 0.25;

// Nor may those of all masses be more than this many times those of the smallest one. An iteration in fp64 takes the
// time of two in fp32, so 3 would be even.
constexpr double most_sum_of_masses = 2.5;

// |r| / |b| = 2 exp(-2 n / sqrt(kappa)) where A has eigenvalues from 4m^2 to about 20 + 4m^2.
double iterations_of(double mass, double tolerance) {
  return std::sqrt(1 + 5 / (mass * mass)) / 2 * std::log(2 / tolerance);
}

}  // namespace

bool shifts_run_in_sloppy(const SessionOptions& options, const Extents& lattice, std::span<const double> masses,
                          double deflated, double tolerance) {
  const double smallest = std::hypot(*std::min_element(masses.begin(), masses.end()), deflated);
  if (options.sloppy != Precision::fp32 || !(smallest > 0)) return false;
  double sum = 0, unknowns = 1.5;  // 3 on each site of a parity
  for (const double mass : masses) sum += iterations_of(std::hypot(mass, deflated), tolerance);
  for (const int extent : lattice) unknowns *= extent;
  const double longest = iterations_of(smallest, tolerance);
  return longest <= most_unknowns_share * unknowns && sum <= most_sum_of_masses * longest;
}

SessionOptions shifted_options(const SessionOptions& options, bool in_sloppy) {
  return in_sloppy ? iterated_options(options) : options;
}

double rounding_of_products(Precision precision) {
  return 0.5 * (precision == Precision::fp64 ? std::numeric_limits<double>::epsilon()
                                             : double(std::numeric_limits<float>::epsilon()));
}

}  // namespace staghorn
