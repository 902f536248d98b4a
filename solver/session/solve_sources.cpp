#include "solver/session/solve_sources.hpp"

#include <algorithm>

#include "halo/watch/stopwatch.hpp"
#include "solver/gauge/gauge.hpp"
#include "solver/observables/measurements.hpp"
#include "solver/observables/observable_table.hpp"
#include "solver/request/solve_checks.hpp"
#include "solver/session/low_modes/kept_pairs.hpp"

namespace staghorn {

MeasuredLinks measured_links(Session& session, const SolveRequest& request, std::span<const SourceRequest> sources) {
  const GaugeLinks& links = session.resident().links();
  check_mesons(request, links.have_thin(), sources);
  const bool currents = std::any_of(request.mesons.begin(), request.mesons.end(),
                                    [](const MesonRequest& meson) { return meson.current.has_value(); });
  return {currents ? links.all_on_host() : links.as_they_came(),
          need_thin_links(request) ? &links.thin_on_host() : nullptr, session.options().boundary,
          std::make_shared<MesonPlace>(session.context().field_device())};
}

SolvedSources solve_sources(Session& session, const SolveRequest& asked, const SourceSet& sources,
                            std::vector<VectorField> guesses, const std::function<void(const CgProgress&)>& progress) {
  SolveRequest request = asked;
  std::optional<RationalFunction> function;  // its poles are masses
  if (asked.rational) {
    check_request(asked, session.options().precision);
    function = read_rational(session.communicator(), *asked.rational);
    request = request_of_poles(asked, *function, session.options());
    guesses.clear();
  }
  const std::size_t n_rhs = sources.fields.size(), n_masses = std::max<std::size_t>(request.masses.size(), 1);
  check_mesons(request, session.resident().links().have_thin(), std::span(&sources.request, 1));
  const LowModes modes = low_modes(session.resident(), request, std::span(&sources.request, 1));
  SolvedSources solved{std::move(guesses), {}};
  if (solved.solutions.empty()) solved.solutions.assign(n_masses * n_rhs, VectorField(session.lattice()));
  SolveReport& report = solved.report;
  report = session.solve(request, sources.fields, solved.solutions, progress);
  report.source = sources.name;
  report.unverified = sources.unverified;
  if (request.exact_low_modes) report.seconds["low_modes"] = modes.seconds;
  for (std::size_t i = 0; i < n_masses * n_rhs; ++i) report.rhs[i].color = sources.colors[i % n_rhs];
  const Context::Scope scope(session.context());
  const Stopwatch measuring;
  const MeasuredLinks links = measured_links(session, request, std::span(&sources.request, 1));
  Measurements measurements(session.communicator(), links, request, modes, {sources.request}, {n_rhs});
  for (std::size_t i = 0; i < n_masses * n_rhs; ++i)
    measurements.take(0, i / n_rhs, i % n_rhs, solved.solutions[i],
                      [&]() -> const VectorField& { return sources.fields[i % n_rhs]; });
  report.observables = measurements.results();
  if (!request.mesons.empty() || !request.baryons.empty())
    report.seconds["mesons"] = session.communicator().max(measuring.seconds());
  if (!function) return solved;
  report.rational = function;
  report.request.rational = asked.rational;
  report.request.rational_parts = asked.rational_parts;
  if (!asked.rational_parts) sum_poles(solved, *function, request.system, sources);
  return solved;
}

ExpectedSolve expected_solve(const SolveRequest& request, const SourceRequest& source, const QuarkAction& quarks) {
  return {source.n_rhs(),
          request.system,
          std::max(1, int(request.masses.size())),
          most_masses_together(request, quarks.naik_epsilon.value_or(0)),
          !request.exact_low_modes ? LowPart::none
          : source.spec.is_noise() ? LowPart::of_condensates
                                   : LowPart::of_correlators,
          n_meson_fields(request) + n_baryon_fields(request)};
}

}  // namespace staghorn
