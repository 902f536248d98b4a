#include <vector>

#include "halo/watch/error.hpp"
#include "halo/watch/stopwatch.hpp"
#include "solver/krylov/table/solver_table.hpp"
#include "solver/session/job/filled_report.hpp"
#include "solver/session/job/run_job.hpp"

namespace staghorn {

CertifiedWork certified_work(Gauge& gauge, const BatchWork& batch) {
  Workbench& bench = gauge.bench();
  return {gauge.context().communicator(),
          bench.plain_links(bench.certificate().space()),
          gauge.options().boundary,
          gauge.options().precision,
          bench.pass(),
          bench.certificate().residual(),
          batch.interrupted,
          batch.checkpoints,
          gauge.eigenpairs().deflation(batch.request),
          [&bench] { bench.pack_links(); }};
}

SolveReport solve_one_mass(Gauge& gauge, const BatchWork& batch) {
  const auto& [request, sources, b2, solutions, progress, interrupted, checkpoints, first_solution] = batch;
  const Communicator& all = gauge.context().communicator();
  const SessionOptions& options = gauge.options();
  Workbench& bench = gauge.bench();
  const std::size_t n_rhs = sources.size();
  // The sums of block CG are Gram matrices, which do not pass through the operator.
  for (const Injection& injection : request.inject)
    if (injection.what == Injection::sum && !solver_for(options).can.sum_in_hops)
      throw Error("inject", "link, vector or halo with solver block", to_string(injection));
  const MemorySpace certificate = bench.place_certificate(sources, solutions, request.system);

  std::vector<int> guessed(n_rhs, 0);
  if (request.chronological > 0) {
    if (common_space(sources, solutions) != MemorySpace::host)
      throw Error("chronological", "fields on the host", "fields on a GPU");
    guessed =
        gauge.earlier().guess(all, bench.plain_links(MemorySpace::host), options.boundary, request, sources, solutions);
  }

  const Stopwatch setting_up;
  bench.prepare(int(n_rhs), request.system, certificate);
  const double setup_seconds = setting_up.seconds();

  CertificateFields::Brought here;
  all.agree([&] { here = bench.certificate().bring(sources, solutions); });  // there may be no memory for copies
  CertifiedSolve done =
      certified_solve(certified_work(gauge, batch), request, here.sources, b2, here.solutions, progress);
  bench.certificate().give_back(solutions);
  if (!request.inject.empty()) bench.pack_links();
  if (request.chronological > 0) gauge.earlier().keep(request, solutions, std::size_t(request.chronological));
  for (std::size_t i = 0; i < n_rhs; ++i) done.rhs[i].earlier_solutions = guessed[i];
  return filled_report(gauge, request, done, setup_seconds, double(2 * n_rhs) * double(sources[0].bytes()));
}

}  // namespace staghorn
