// Session::solve: checks, phases and parities of sources and solutions around the passes of a certified solve.
#include "dirac/operators/plain_operator.hpp"
#include "halo/watch/stopwatch.hpp"
#include "solver/request/solve_checks.hpp"
#include "solver/session/certified_solve.hpp"
#include "solver/session/session_state.hpp"

namespace staghorn {

namespace {

void apply_milc_signs(VectorField& v) {
#pragma omp parallel for schedule(static)
  for (std::int64_t site = 0; site < v.size(); ++site) {
    if (milc_phase_sign(v.lattice().to_global(v.lattice().site_coordinates(site))) > 0) continue;
    for (Complex<double>& c : v[site].c) c = {-c.re, -c.im};
  }
}

void clear_parity(VectorField& v, Parity parity) {
#pragma omp parallel for schedule(static)
  for (std::int64_t site = 0; site < v.size(); ++site)
    if (Lattice::parity_of(v.lattice().site_coordinates(site)) == parity) v[site] = {};
}

}  // namespace

SolveReport Session::solve(const SolveRequest& request, std::span<const VectorField> sources,
                           std::span<VectorField> solutions, const std::function<void(const CgProgress&)>& progress) {
  const Communicator& all = communicator();
  const std::size_t n_rhs = sources.size();
  check_request(request, options().precision);
  check_fields(all, lattice(), sources, solutions);

  // Everything below is in CPS phases.
  std::vector<VectorField> converted;
  if (request.phases == PhaseConvention::milc) {
    converted.assign(sources.begin(), sources.end());
    for (VectorField& b : converted) apply_milc_signs(b);
    for (VectorField& x : solutions) apply_milc_signs(x);
    sources = converted;
  }
  if (request.system != System::full)
    for (VectorField& x : solutions) clear_parity(x, request.system == System::even ? Parity::odd : Parity::even);
  const std::vector<double> b2 = source_norms2(all, request.system, sources);

  const Stopwatch setting_up;
  state_->prepare(int(n_rhs), request.system);
  state_->precise->reset_times();
  if (state_->sloppy) state_->sloppy->reset_times();
  const double setup_seconds = setting_up.seconds();

  const CertifiedSolve done =
      certified_solve({all, links(), options().boundary, options().precision, *state_->pass, *state_->residual},
                      request, sources, b2, solutions, progress);
  if (request.phases == PhaseConvention::milc)
    for (VectorField& x : solutions) apply_milc_signs(x);

  const double source_bytes = double(2 * n_rhs + converted.size()) * double(sources[0].bytes());
  return state_->filled_report(request, done, setup_seconds, source_bytes);
}

}  // namespace staghorn
