#include "solver/session/job/solve.hpp"

#include <algorithm>

#include "solver/request/solve_checks.hpp"
#include "solver/session/job/even_half.hpp"
#include "solver/session/job/run_job.hpp"
#include "solver/session/job/sources_in_range.hpp"

namespace staghorn {

SolveReport solve(Gauge& gauge, const SolveRequest& request, std::span<const VectorField> sources,
                  std::span<VectorField> solutions, const ShowProgress& progress, const SolveHabits& habits) {
  check_request(request, gauge.options().precision);
  check_fields(gauge.context().communicator(), gauge.context().lattice(), sources, solutions,
               std::max<std::size_t>(request.masses.size(), 1));
  const auto run_in_range = [&](const SolveRequest& system, std::span<const VectorField> b) {
    SourcesInRange in_range(gauge, system, b, solutions, habits.zero_source_is_a_result);
    SolveReport report = run_job(gauge, {system, in_range.sources(), in_range.b2(), solutions, progress,
                                         habits.interrupted, habits.checkpoints});
    in_range.take_back(report);
    return report;
  };
  if (request.stop != StopOn::parity || request.system != System::full) return run_in_range(request, sources);

  SourcesInRange in_range(gauge, request, sources, solutions, habits.zero_source_is_a_result);
  EvenHalf half(gauge, request, in_range.sources(), solutions);
  SolveReport report = run_in_range(half.request(), half.sources());
  half.complete(solutions, report);
  in_range.take_back(report);
  return report;
}

}  // namespace staghorn
