#include "solver/report/iterations/iterations_more.hpp"

#include <algorithm>
#include <cmath>

#include "solver/report/iterations/iteration_bound.hpp"

namespace staghorn {

namespace {

constexpr std::size_t fewest = 20;  // iterations that tell a rate

// How often |r| falls by a factor of e in an iteration; 0: not known.
double rate_so_far(const std::vector<double>& history) {
  const std::size_t n = history.size(), half = n / 2;
  if (n < fewest || !(history[n - 1] > 0)) return 0;
  const double rate = std::log(history[half] / history[n - 1]) / double(n - 1 - half);
  return rate > 0 ? rate : 0;
}

// The same by the condition number. Of mixed precision the smallest eigenvalue is that of the mass: updates spoil what
// the coefficients say of it.
double rate_foreseen(const SolveReport& report, double mass, std::size_t iterations) {
  if (!report.spectrum || iterations < fewest) return 0;
  const double shift = 4 * mass * mass;
  const double root = report.options.sloppy ? root_condition_of_shift(report.spectrum->largest, shift)
                                            : root_condition(*report.spectrum, shift);
  return 1 / iterations_per_e(root);
}

// The tolerance of right-hand side i, mass by mass.
double tolerance_of(const SolveReport& report, std::size_t i) {
  const std::vector<double>& own = report.request.tolerances;
  if (own.empty()) return report.tolerance;
  const double of_mass = own[i / (report.rhs.size() / own.size())];
  return of_mass > 0 ? of_mass : report.tolerance;
}

}  // namespace

std::optional<long> iterations_more(const SolveReport& report, std::size_t i) {
  const RhsReport& rhs = report.rhs[i];
  if (rhs.outcome != Outcome::out_of_iterations) return {};
  const std::vector<Target> targets = targets_of(report.request, tolerance_of(report, i), rhs);
  double left = std::log(targets[0].found / targets[0].asked);
  for (const Target& target : targets) left = std::max(left, std::log(target.found / target.asked));
  const double mass = report.multi_shift ? rhs.mass : report.request.mass;
  const double rate = std::max(rate_so_far(rhs.history), rate_foreseen(report, mass, rhs.history.size()));
  if (!(rate > 0) || !std::isfinite(left)) return {};
  return std::max(1L, long(std::min(std::ceil(left / rate), 1e15)));
}

}  // namespace staghorn
