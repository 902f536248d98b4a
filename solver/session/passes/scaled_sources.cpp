#include "solver/session/passes/scaled_sources.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <optional>

#include "dirac/fields/plain_algebra.hpp"
#include "solver/report/solve_report.hpp"
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

double norm2_of_any_size(const Communicator& communicator, System system, const VectorField& b) {
  double b2 = source_norms2(communicator, system, {&b, 1}, true)[0];
  if (!is_out_of_range(b2)) return b2;
  std::optional<VectorField> scaled;
  communicator.agree([&] { scaled.emplace(b); });
  const int times = bring_into_range(communicator, system, *scaled, b2);
  return std::ldexp(b2, -2 * exponent * times);
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
  const bool is_good = request.are_met(tolerance, rhs.residual_true, rhs.residual_hq);
  if (is_good || rhs.outcome != Outcome::certified) return;
  rhs.digits_lost = true;
  rhs.outcome = std::isfinite(rhs.residual_true) ? Outcome::stagnated : Outcome::breakdown;
}

SourcesInRange::SourcesInRange(Gauge& gauge, const SolveRequest& request, std::span<const VectorField> sources,
                               std::span<VectorField> solutions, bool zero_source_is_a_result)
    : gauge_(gauge), request_(request), given_(sources), solutions_(solutions) {
  const Communicator& all = gauge.context().communicator();
  b2_ = source_norms2(all, request.system, sources, zero_source_is_a_result);
  if (std::none_of(b2_.begin(), b2_.end(), is_out_of_range)) return;
  const MemorySpace space = common_space(sources, solutions);
  all.agree([&] {
    scaled_.assign(sources.begin(), sources.end());
    residual_.emplace(sources[0].lattice(), space);
  });
  for (std::size_t i = 0; i < sources.size(); ++i)
    times_.push_back(bring_into_range(all, request.system, scaled_[i], b2_[i]));
  multiply_solutions(1);
}

SourcesInRange::~SourcesInRange() {
  try {
    multiply_solutions(-1);
  } catch (...) {  // of a GPU that failed, with all that it held
  }
}

void SourcesInRange::multiply_solutions(int sign) {
  for (std::size_t i = 0; i < solutions_.size() && !times_.empty(); ++i)
    multiply_times(request_.system, solutions_[i], sign * times_[i % times_.size()]);
}

void SourcesInRange::take_back(SolveReport& report) {
  if (times_.empty()) return;
  const Communicator& all = gauge_.context().communicator();
  std::optional<OperatorLinks> links;
  all.agree([&] { links.emplace(gauge_.bench().plain_links(residual_->space())); });
  const Judge judge{all, *links, gauge_.options().boundary, *residual_};
  const std::vector<int> times = std::move(times_);
  times_.clear();
  for (std::size_t i = 0; i < solutions_.size(); ++i) {
    const std::size_t mass = i / times.size(), source = i % times.size();
    SolveRequest of_mass = request_;
    double tolerance = report.tolerance;
    if (!request_.masses.empty()) of_mass.mass = request_.masses[mass];
    if (!request_.tolerances.empty() && request_.tolerances[mass] > 0) tolerance = request_.tolerances[mass];
    staghorn::take_back(judge, of_mass, tolerance, scaled_[source], times[source], solutions_[i], report.rhs[i]);
  }
  conclude(report);
}

}  // namespace staghorn
