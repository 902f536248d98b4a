#include "solver/interface/milc/requests.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "solver/interface/argument_checks.hpp"
#include "solver/interface/milc/failure.hpp"

namespace staghorn::milc {

namespace {

// Asks for Fermilab's residual alone: any x that is better than none has this.
constexpr double hardly_asked = 0.9;
// Asks for more than rounding allows: a solve then ends where it cannot go on.
constexpr double best_possible = std::numeric_limits<double>::epsilon();

void require_target(double target) {
  if (!(target >= 0 && target < 1)) throw Error("target residual", "0, or a number below 1", target);
}

// MILC calls a solve converged if the residual is below its target, which ours may be equal to.
double just_below(double target) { return target > 0 ? std::nextafter(target, 0) : 0; }

double smallest_asked(int n, const double* targets) {
  double smallest = 0;
  for (int i = 0; i < n; ++i) {
    require_target(targets[i]);
    if (targets[i] > 0 && (smallest == 0 || targets[i] < smallest)) smallest = targets[i];
  }
  return smallest;
}

}  // namespace

int precision_of(const char* name, int number) {
  check_choice(name, number, 1, 2);
  return number == 1 ? STAGHORN_FP32 : STAGHORN_FP64;
}

staghorn_vectors vectors_of(int external_precision) {
  auto vectors = defaults_of<staghorn_vectors>(STAGHORN_VECTORS);
  vectors.order = STAGHORN_EVEN_ODD_X;
  vectors.precision = precision_of("external_precision", external_precision);
  return vectors;  // in the convention of the links: STAGHORN_PHASES_NONE
}

int sites_of(const QudaInvertArgs_t& args) {
  check_choice("evenodd", args.evenodd, QUDA_EVEN_PARITY, QUDA_ODD_PARITY);
  return args.evenodd == QUDA_EVEN_PARITY ? STAGHORN_EVEN : STAGHORN_ODD;
}

staghorn_request request_of(int quda_precision, const QudaInvertArgs_t& args) {
  auto request = defaults_of<staghorn_request>(STAGHORN_REQUEST);
  request.system = sites_of(args);
  if (args.max_iter < 0) throw Error("max_iter", "a number of at least 0", args.max_iter);
  request.max_iterations = args.max_iter;
  check_choice("mixed_precision", args.mixed_precision, 0, 2);
  if (args.mixed_precision == 2)
    request.sloppy = STAGHORN_FP16;
  else if (args.mixed_precision == 1 || precision_of("quda_precision", quda_precision) == STAGHORN_FP32)
    request.sloppy = STAGHORN_FP32;
  else
    request.sloppy = STAGHORN_NO_SLOPPY;
  precision_of("quda_precision", quda_precision);
  return request;
}

std::vector<double> set_targets(staghorn_request& request, int n, const double* residuals,
                                const double* relative_residuals) {
  const double residual = smallest_asked(n, residuals);
  request.tolerance_hq = smallest_asked(n, relative_residuals);
  request.tolerance = residual > 0 ? just_below(residual) : request.tolerance_hq > 0 ? hardly_asked : best_possible;
  std::vector<double> targets(std::size_t(n), 0.0);
  std::transform(residuals, residuals + n, targets.begin(), just_below);
  return targets;
}

}  // namespace staghorn::milc
