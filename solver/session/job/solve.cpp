#include "solver/session/job/solve.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "dirac/fields/plain_algebra.hpp"
#include "dirac/operators/plain_operator.hpp"
#include "solver/request/solve_checks.hpp"
#include "solver/request/sources.hpp"
#include "solver/session/job/run_job.hpp"
#include "solver/session/passes/scaled_sources.hpp"

namespace staghorn {

namespace {

// In CPS phases.
SolveReport solve_in_range(Gauge& gauge, const SolveRequest& request, std::span<const VectorField> sources,
                           std::span<VectorField> solutions, const ShowProgress& progress, const SolveHabits& habits) {
  SourcesInRange in_range(gauge, request, sources, solutions, habits.zero_source_is_a_result);
  SolveReport report = run_job(
      gauge, {request, in_range.sources(), in_range.b2(), solutions, progress, habits.interrupted, habits.checkpoints});
  in_range.take_back(report);
  return report;
}

// A full system whose tolerance is on the residual of its even half, as CPS has it; in CPS phases:
//
//   b'  = 2m b_e - D b_o       plain path, fp64, where the fields lie
//   A x_e = b'                 the certified solve of the even system
//   x_o = (b_o - D x_e) / 2m   plain path
SolveReport solve_by_half(Gauge& gauge, const SolveRequest& request, std::span<const VectorField> sources,
                          std::span<VectorField> solutions, const ShowProgress& progress, const SolveHabits& habits) {
  const Communicator& all = gauge.context().communicator();
  const Boundary& boundary = gauge.options().boundary;
  const double two_m = 2 * request.mass;
  SourcesInRange in_range(gauge, request, sources, solutions, habits.zero_source_is_a_result);
  const std::span<const VectorField> b = in_range.sources();
  const MemorySpace space = common_space(b, solutions);
  const auto links = [&] { return gauge.bench().plain_links(space); };
  std::vector<VectorField> even_sources;
  std::optional<VectorField> residual;
  all.agree([&] {
    for (const VectorField& given : b) even_sources.emplace_back(given.lattice(), space);
    residual.emplace(b[0].lattice(), space);
    links();
  });
  for (std::size_t i = 0; i < b.size(); ++i) {
    plain_hop(all, links(), boundary, even_sources[i], b[i], Parity::even);
    subtract_from_multiple(even_sources[i], two_m, b[i], Parity::even);
  }

  SolveRequest even = request;
  even.system = System::even;
  even.stop = StopOn::system;
  SolveReport report = solve_in_range(gauge, even, even_sources, solutions, progress, habits);
  report.request = request;
  report.system = to_string(request.system);

  for (std::size_t i = 0; i < b.size(); ++i) {
    VectorField& x = solutions[i];
    plain_hop(all, links(), boundary, x, x, Parity::odd);
    divide_difference(x, b[i], two_m, Parity::odd);
    RhsReport& rhs = report.rhs[i];
    rhs.residual_parity = rhs.residual_true;
    const double b2 = norm2(all, b[i]);
    const double r2 = full_residual(all, links(), boundary, request.mass, x, b[i], *residual);
    rhs.residual_true = b2 == 0 ? 0 : std::sqrt(r2 / b2);
    const Norms2 x2 = norms2(all, x);
    rhs.norm2 = x2.all;
    rhs.norm2_even = x2.even;
    rhs.norm2_odd = x2.odd;
  }
  in_range.take_back(report);
  return report;
}

}  // namespace

SolveReport solve(Gauge& gauge, const SolveRequest& request, std::span<const VectorField> sources,
                  std::span<VectorField> solutions, const ShowProgress& progress, const SolveHabits& habits) {
  const Communicator& all = gauge.context().communicator();
  check_request(request, gauge.options().precision);
  check_fields(all, gauge.context().lattice(), sources, solutions, std::max<std::size_t>(request.masses.size(), 1));
  std::vector<VectorField> changed;
  const auto change_solutions = [&] {
    for (VectorField& x : solutions) change_phases(request.phases, x);
  };
  if (request.phases != PhaseConvention::cps) {
    changed.assign(sources.begin(), sources.end());
    for (VectorField& b : changed) change_phases(request.phases, b);
    change_solutions();
    sources = changed;
  }
  if (request.system != System::full)
    for (VectorField& x : solutions) clear_parity(x, request.system == System::even ? Parity::odd : Parity::even);
  const bool by_half = request.stop == StopOn::parity && request.system == System::full;
  SolveReport report = by_half ? solve_by_half(gauge, request, sources, solutions, progress, habits)
                               : solve_in_range(gauge, request, sources, solutions, progress, habits);
  if (changed.empty()) return report;
  change_solutions();
  const double bytes = double(changed.size()) * double(changed[0].bytes());
  report.memory_bytes["sources_solutions"] += double(all.sum(std::int64_t(bytes)));
  return report;
}

}  // namespace staghorn
