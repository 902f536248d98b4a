#include "solver/session/passes/scaled_sources.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <optional>

#include "dirac/fields/plain_algebra.hpp"
#include "solver/request/solve_checks.hpp"

namespace staghorn {

namespace {

// Residuals down to 1e-40 |b|, and solutions up to 1e100 |b|, have squares in the range of exact sums then.
constexpr double smallest_b2 = 0x1p-400, largest_b2 = 0x1p400;
constexpr int exponent = 400;  // of a factor that takes any double into that range in at most three steps

}  // namespace

void multiply_times(System system, VectorField& v, int times) {
  for (int i = 0; i < std::abs(times); ++i)
    multiply(v, std::ldexp(1, times > 0 ? exponent : -exponent), sites_of(system));
}

bool is_out_of_range(double b2) { return b2 > 0 && !(b2 >= smallest_b2 && b2 <= largest_b2); }

int bring_into_range(const Communicator& communicator, System system, VectorField& b, double& b2) {
  int times = 0;
  for (; is_out_of_range(b2); b2 = source_norms2(communicator, system, {&b, 1})[0]) {
    const int step = b2 < 1 ? 1 : -1;
    multiply_times(system, b, step);
    times += step;
  }
  return times;
}

double true_residual(const Judge& judge, const SolveRequest& request, const VectorField& x, const VectorField& b) {
  const auto& [communicator, links, boundary, residual] = judge;
  const std::optional<Parity> parity = sites_of(request.system);
  return parity ? parity_residual(communicator, links, boundary, request.mass, *parity, x, b, residual)
                : full_residual(communicator, links, boundary, request.mass, x, b, residual);
}

void take_back(const Judge& judge, const SolveRequest& request, double tolerance, const VectorField& b, int times,
               VectorField& x, RhsReport& rhs) {
  if (times == 0) return;
  const Communicator& all = judge.communicator;
  const std::optional<Parity> sites = sites_of(request.system);
  std::optional<VectorField> held, lost;
  all.agree([&] { lost.emplace(x); });
  multiply_times(request.system, x, -times);
  all.agree([&] { held.emplace(x); });
  multiply_times(request.system, *held, times);  // what x is worth, at the size that was solved for
  const Norms2 x2 = norms2(all, *held);
  if (!sites || *sites == Parity::even) rhs.norm2_even = std::ldexp(x2.even, -2 * exponent * times);
  if (!sites || *sites == Parity::odd) rhs.norm2_odd = std::ldexp(x2.odd, -2 * exponent * times);
  rhs.norm2 = rhs.norm2_even + rhs.norm2_odd;
  add(*lost, -1, *held);
  if (is_zero(all, *lost)) return;
  rhs.residual_true = std::sqrt(true_residual(judge, request, *held, b) / norm2(all, b, sites));
  rhs.residual_hq = heavy_quark_residual(all, *held, judge.residual, sites);
  const bool is_good =
      rhs.residual_true <= tolerance && (!request.tolerance_hq || rhs.residual_hq <= *request.tolerance_hq);
  if (is_good || rhs.outcome != Outcome::certified) return;
  rhs.digits_lost = true;
  rhs.outcome = std::isfinite(rhs.residual_true) ? Outcome::stagnated : Outcome::breakdown;
}

}  // namespace staghorn
