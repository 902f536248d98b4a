// Gauge::solve: checks of request and fields around the passes of a certified solve.
#include "halo/watch/stopwatch.hpp"
#include "solver/request/solve_checks.hpp"
#include "solver/session/certified_solve.hpp"
#include "solver/session/gauge.hpp"

namespace staghorn {

SolveReport Gauge::solve(const SolveRequest& request, std::span<const VectorField> sources,
                         std::span<VectorField> solutions, const std::function<void(const CgProgress&)>& progress,
                         const SolveHabits& habits) {
  const Communicator& all = context_.communicator();
  const std::size_t n_rhs = sources.size();
  check_request(request, options_.precision);
  check_fields(all, lattice(), sources, solutions);
  // The second plain text, on the GPU, knows thin links only.
  const MemorySpace certificate = improved_ ? MemorySpace::host
                                            : certificate_space(options_.certificate, common_space(sources, solutions),
                                                                context_.cuda_device() >= 0);
  const std::vector<double> b2 = source_norms2(all, request.system, sources, habits.zero_source_is_a_result);

  const Stopwatch setting_up;
  prepare(int(n_rhs), request.system, certificate);
  precise_->reset_times();
  if (sloppy_) sloppy_->reset_times();
  const double setup_seconds = setting_up.seconds();

  std::span<const VectorField> brought_sources;
  std::span<VectorField> brought_solutions;
  all.agree([&] {  // there may be no memory for copies
    brought_sources = certificate_.bring_sources(sources);
    brought_solutions = certificate_.bring_solutions(solutions);
  });
  const CertifiedSolve done =
      certified_solve({all, improved_ ? operator_links() : OperatorLinks(certificate_.links(links_)), options_.boundary,
                       options_.precision, *pass_, certificate_.residual(), habits.interrupted},
                      request, brought_sources, b2, brought_solutions, progress);
  certificate_.give_back(solutions);
  return filled_report(request, done, setup_seconds, double(2 * n_rhs) * double(sources[0].bytes()));
}

}  // namespace staghorn
