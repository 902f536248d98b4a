#include "solver/session/solve_sources.hpp"

#include <algorithm>

#include "solver/report/propagator_observables.hpp"
#include "solver/session/gauge.hpp"

namespace staghorn {

std::vector<double> seen_by_low_modes(const LowModeTrace& low_modes, const SolveRequest& request, VectorField noise) {
  if (request.phases == PhaseConvention::milc) apply_milc_signs(noise);
  return low_modes.seen(noise);
}

namespace {

// The condensate of each mass. `solutions` are mass by mass, `seen` is of each noise vector.
std::vector<CondensateEstimate> condensates(const Communicator& communicator, const SolveRequest& request,
                                            std::span<const VectorField> noise, std::span<const VectorField> solutions,
                                            const std::optional<LowModeTrace>& low_modes,
                                            std::span<const std::vector<double>> seen) {
  std::vector<CondensateEstimate> found;
  for (std::size_t k = 0; k < solutions.size() / noise.size(); ++k) {
    const double mass = masses_of(request)[k];
    std::vector<double> correction;
    for (const std::vector<double>& of_noise : seen) correction.push_back(low_modes->correction(mass, of_noise));
    found.push_back(
        estimate_condensate(communicator, noise, solutions.subspan(k * noise.size(), noise.size()), correction));
    if (!low_modes) continue;
    found.back().low_part = low_modes->part(mass, low_modes->norms2());
    found.back().low_part_error = low_modes->error(mass);
  }
  return found;
}

}  // namespace

SolvedSources solve_sources(Session& session, const SolveRequest& request, const SourceSet& sources,
                            std::vector<VectorField> guesses, const std::function<void(const CgProgress&)>& progress) {
  if (request.rational) return solve_rational(session, request, sources, progress);
  const std::size_t n_rhs = sources.fields.size(), n_masses = std::max<std::size_t>(request.masses.size(), 1);
  const LowModes low_modes = session.resident().low_modes(request, std::span(&sources.request, 1));
  std::vector<std::vector<double>> seen;
  if (low_modes.trace)
    for (const VectorField& noise : sources.fields) seen.push_back(seen_by_low_modes(*low_modes.trace, request, noise));
  SolvedSources solved{std::move(guesses), {}};
  if (solved.solutions.empty()) solved.solutions.assign(n_masses * n_rhs, VectorField(session.lattice()));
  SolveReport& report = solved.report;
  report = session.solve(request, sources.fields, solved.solutions, progress);
  report.source = sources.name;
  report.unverified = sources.unverified;
  if (request.exact_low_modes) report.seconds["low_modes"] = low_modes.seconds;
  for (std::size_t i = 0; i < n_masses * n_rhs; ++i) report.rhs[i].color = sources.colors[i % n_rhs];
  if (request.system != System::full) return solved;  // the observables are of solutions of the full system
  std::vector<std::vector<double>> correlators, low_parts;
  if (sources.request.has_all_colors())
    for (std::size_t k = 0; k < n_masses; ++k) {
      const auto of_mass = std::span<const VectorField>(solved.solutions).subspan(k * n_rhs, n_rhs);
      correlators.push_back(pion_correlator(session.communicator(), of_mass));
      if (!low_modes.correlator) continue;
      correlators[k] = low_modes.correlator->improve(std::move(correlators[k]), k, sources.request.spec);
      low_parts.push_back(low_modes.correlator->part(k, sources.request.spec));
    }
  std::vector<CondensateEstimate> of_noise;
  if (sources.request.spec.is_noise())
    of_noise = condensates(session.communicator(), request, sources.fields, solved.solutions, low_modes.trace, seen);
  if (report.multi_shift) {
    report.pion_correlators = std::move(correlators);
    report.pion_low_parts = std::move(low_parts);
    report.condensates = std::move(of_noise);
    return solved;
  }
  if (!correlators.empty()) report.pion_correlator = correlators[0];
  if (!low_parts.empty()) report.pion_low_part = low_parts[0];
  if (!of_noise.empty()) report.condensate = of_noise[0];
  return solved;
}

ExpectedSolve expected_solve(const SolveRequest& request, const SourceRequest& source, const QuarkAction& quarks) {
  return {source.n_rhs(), request.system, std::max(1, int(request.masses.size())),
          most_masses_together(request, quarks.naik_epsilon.value_or(0)),
          !request.exact_low_modes ? LowPart::none
          : source.spec.is_noise() ? LowPart::of_condensates
                                   : LowPart::of_correlators};
}

}  // namespace staghorn
