#include "solver/krylov/shifts/shifted_precision.hpp"

#include <cmath>
#include <limits>

#include "solver/request/operator_request.hpp"

namespace staghorn {

namespace {

// More iterations than this share of the unknowns are too many for fp32.
constexpr double most_unknowns_share = 0.25;

}  // namespace

bool shifts_run_in_sloppy(const SessionOptions& options, const Extents& lattice, double smallest_mass,
                          double tolerance) {
  if (options.sloppy != Precision::fp32 || !(smallest_mass > 0)) return false;
  // |r| / |b| = 2 exp(-2 n / sqrt(kappa)) where A has eigenvalues from 4m^2 to about 20 + 4m^2.
  const double kappa = 1 + 5 / (smallest_mass * smallest_mass);
  const double iterations = std::sqrt(kappa) / 2 * std::log(2 / tolerance);
  double unknowns = 1.5;  // 3 on each site of a parity
  for (const int extent : lattice) unknowns *= extent;
  return iterations <= most_unknowns_share * unknowns;
}

SessionOptions shifted_options(const SessionOptions& options, bool in_sloppy) {
  return in_sloppy ? iterated_options(options) : options;
}

double rounding_of_products(Precision precision) {
  constexpr double room = 4;
  return room * (precision == Precision::fp64 ? std::numeric_limits<double>::epsilon()
                                              : double(std::numeric_limits<float>::epsilon()));
}

}  // namespace staghorn
