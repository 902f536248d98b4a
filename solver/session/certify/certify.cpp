#include "solver/session/certify/certify.hpp"

#include <omp.h>

#include <algorithm>
#include <cmath>
#include <deque>

#include "dirac/fields/plain_algebra.hpp"
#include "halo/watch/error.hpp"
#include "halo/watch/stopwatch.hpp"
#include "lattice_io/content/field_faults.hpp"
#include "solver/gauge/gauge.hpp"
#include "solver/report/provenance.hpp"
#include "solver/request/words/formatted.hpp"
#include "solver/session/certify/convention_search.hpp"
#include "solver/session/certify/fitted_quarks.hpp"
#include "solver/session/certify/judge.hpp"

namespace staghorn {

namespace {

constexpr double nearly_solved = 1e-3;  // a residual that no other equation leaves

std::string short_number(double value) { return format("%.3g", value); }

// The links of D for several quarks on one configuration.
class LinksOfQuarks {
 public:
  LinksOfQuarks(const Communicator& communicator, const OperatorLinks& given)
      : communicator_(communicator), given_(given) {}

  const TriedLinks& make(const QuarkAction& quarks) {
    if (!quarks.improved() || quarks.stored()) return tried_.emplace_back(TriedLinks{quarks, given_});
    require_fit(given_.lattice(), Stencil::improved);
    made_.push_back(make_improved_links(communicator_, given_.near, quarks));
    const ImprovedLinks& links = made_.back();
    return tried_.emplace_back(TriedLinks{quarks, {links.fat, links.naik, links.naik_weight}});
  }
  // Beside those that are there: what thin links make without further parameters, and asqtad with the tadpole factor of
  // their plaquette. `left_out`: actions that the lattice or its links do not allow.
  void make_others(double plaquette, std::vector<std::string>& left_out) {
    if (tried_.front().quarks.stored()) return;
    QuarkAction naive, asqtad, tadpole, hisq;
    asqtad.action = tadpole.action = Action::asqtad;
    tadpole.u0 = std::sqrt(std::sqrt(plaquette));
    hisq.action = Action::hisq;
    for (const QuarkAction& quarks : {naive, asqtad, tadpole, hisq}) {
      if (quarks.u0 && !(*quarks.u0 > 0)) continue;
      const auto same = [&](const TriedLinks& tried) {
        return tried.quarks.action == quarks.action && tried.quarks.u0.value_or(1) == quarks.u0.value_or(1) &&
               tried.quarks.naik_epsilon.value_or(0) == 0;
      };
      if (std::any_of(tried_.begin(), tried_.end(), same)) continue;
      try {
        make(quarks);
      } catch (const Error&) {  // on all ranks alike: short parts of the lattice, a link that has no projection
        left_out.push_back(to_string(quarks.action));
      }
    }
  }
  const OperatorLinks& given() const { return given_; }
  std::vector<TriedLinks> all() const { return {tried_.begin(), tried_.end()}; }

 private:
  const Communicator& communicator_;
  OperatorLinks given_;
  std::deque<ImprovedLinks> made_;
  std::deque<TriedLinks> tried_;
};

// The systems that a solution with these zeros can solve as a whole, or the one that was asked for.
std::vector<TriedSystem> whole_systems(const std::optional<System>& asked, const Norms2& x) {
  if (asked == System::full) return {{false, {}}};
  if (asked == System::even) return {{true, Parity::even}};
  if (asked == System::odd) return {{true, Parity::odd}};
  if (x.odd == 0) return {{false, {}}, {true, Parity::even}};
  if (x.even == 0) return {{false, {}}, {true, Parity::odd}};
  return {{false, {}}, {true, {}}};
}

// Refuses what has no residual.
void check_fields(const Communicator& communicator, const CertifyRequest& request,
                  std::span<const VectorField> solutions, std::span<const VectorField> sources) {
  if (solutions.size() != sources.size())
    throw Error("source", std::to_string(solutions.size()) + " vectors, one for each solution", sources.size());
  for (const auto& [name, fields] : {std::pair("solution", solutions), std::pair("source", sources)})
    if (const std::string fault = fault_of_vectors(communicator, fields); !fault.empty())
      throw Error(name, "vectors that are finite and not zero", fault);
  if (!request.system || *request.system == System::full) return;
  const Parity parity = *request.system == System::even ? Parity::even : Parity::odd;
  for (std::size_t i = 0; i < sources.size(); ++i)
    if (!(norm2(communicator, sources[i], parity) > 0))
      throw Error("source", "vectors that are not zero on " + to_string(*request.system) + " sites",
                  "vector " + std::to_string(i) + ", which is");
}

// The residual of what was asked for, with the mass that fits best where none is given; of several systems the
// smallest.
Judgement judge_asked(const Communicator& communicator, const OperatorLinks& links, const CertifyRequest& request,
                      Convention asked, std::span<const TriedSystem> systems, const JudgedFields& fields,
                      double tolerance) {
  std::optional<Judgement> best;
  for (const auto& [squared, parity] : systems) {
    asked.squared = squared;
    asked.parity = parity;
    asked.mass = request.mass.value_or(0);
    if (!request.mass) {
      const Convention fits = judge(communicator, links, asked, fields, {}, tolerance, request.stored).convention;
      const double factor = std::fabs(fits.factor);
      asked.mass = fits.mass * (squared ? std::sqrt(factor) : factor);
    }
    Judgement found = judge_as_named(communicator, links, asked, fields, request.stored);
    if (!best || !(found.residual >= best->residual)) best = std::move(found);
    if (best->residual <= tolerance) break;
  }
  return *best;
}

// The best of what the search proposes; of those that are alike the first.
Judgement search(const Communicator& communicator, std::span<const TriedLinks> links, const CertifyRequest& request,
                 const Convention& asked, std::span<const TriedSystem> systems, const JudgedFields& fields,
                 CertifyReport& report) {
  const Shortlist list =
      shortlist(communicator, links, systems, asked, fields.solutions.front(), fields.sources.front());
  report.tried += list.tried;
  Judgement best;
  for (const Candidate& candidate : list.candidates) {
    Judgement found = judge(communicator, candidate.tried->links, candidate.convention, fields, request.mass,
                            report.tolerance, request.stored);
    if (found.residual < best.residual / 2) best = std::move(found);
  }
  return best;
}

// Where the best so far is asqtad or HISQ and has a residual as of another tadpole factor or epsilon: the same with
// that.
void fit_quarks(const Communicator& communicator, LinksOfQuarks& links, const CertifyRequest& request,
                const JudgedFields& fields, const CertifyReport& report, Judgement& best) {
  const Convention& convention = best.convention;
  if (convention.quarks.stored() || !convention.quarks.improved()) return;
  if (best.residual < 1e-6) return;
  const auto quarks = fitted_quarks(communicator, links.given().near, convention, fields, report.tolerance);
  if (!quarks) return;
  Convention trial = convention;
  trial.quarks = *quarks;
  Judgement found =
      judge(communicator, links.make(*quarks).links, trial, fields, request.mass, report.tolerance, request.stored);
  if (found.residual < best.residual) best = std::move(found);
}

// Whether a convention leaves sites unjudged where a solution stands, although its system was not asked for.
bool is_partial(const Convention& found, std::span<const TriedSystem> whole) {
  return found.parity && std::none_of(whole.begin(), whole.end(),
                                      [&](const TriedSystem& system) { return system.parity == found.parity; });
}

// What a search left that found nothing.
std::string about_search(const CertifyReport& report, double residual) {
  const Coordinates& x = report.worst.site;
  std::string text = format(" None of %ld conventions makes it small: the smallest is %.3g", report.tried, residual);
  if (residual < nearly_solved)
    text += format(
        ", and vector %d has %.0f %% of its square at the site %d,%d,%d,%d. If its solver was asked for no "
        "more, give its `tolerance`",
        report.worst.rhs, 100 * report.worst.share, x[0], x[1], x[2], x[3]);
  text += ".";
  for (const std::string& action : report.left_out) text += " Links of " + action + " could not be made.";
  return text;
}

std::string explain(const CertifyReport& report, double residual) {
  if (report.outcome == CertifyOutcome::certified) return "";
  const std::string asked = "The residual of " + equation(report.asked) + " is " + short_number(report.residual_asked) +
                            ", the tolerance is " + short_number(report.tolerance) + ".";
  if (report.outcome == CertifyOutcome::rounded)
    return asked + " Rounding of the numbers to " + to_string(report.request.stored) + " alone leaves about " +
           short_number(report.attainable) + ".";
  if (report.outcome == CertifyOutcome::other_convention)
    return asked + " In the convention that was found it is " + short_number(residual) + ".";
  return report.tried == 0 ? asked : asked + about_search(report, residual);
}

}  // namespace

CertifyReport certify(Session& session, const CertifyRequest& request, std::span<const VectorField> solutions,
                      std::span<const VectorField> sources) {
  const Communicator& all = session.communicator();
  const Context::Scope scope(session.context());
  check_fields(all, request, solutions, sources);
  CertifyReport report;
  report.request = request;
  report.tolerance = tolerance_in_force(request);
  report.gauge = session.gauge();
  report.lattice = session.lattice().global();
  report.ranks = all.size();
  report.threads = omp_get_max_threads();
  report.provenance = run_provenance(!all.is_alone());
  report.asked.quarks = request.quarks;
  report.asked.phases = request.phases == PhaseConvention::milc ? LinkPhases::milc : LinkPhases::cps;
  report.asked.boundary = session.options().boundary;

  Stopwatch watch;
  const JudgedFields fields{solutions, sources};
  LinksOfQuarks links(all, session.resident().links().all_on_host());
  const TriedLinks& own = links.make(request.quarks);
  const std::vector<TriedSystem> systems = whole_systems(request.system, norms2(all, solutions.front()));
  const std::vector<TriedSystem> halves{{true, Parity::even}, {true, Parity::odd}};
  Judgement judged = judge_asked(all, own.links, request, report.asked, systems, fields, report.tolerance);
  report.asked = judged.convention;
  report.residual_asked = judged.residual;
  report.seconds["certify"] = all.max(watch.seconds());
  if (judged.residual <= report.tolerance)
    report.outcome = CertifyOutcome::certified;
  else if (judged.residual <= judged.attainable)
    report.outcome = CertifyOutcome::rounded;
  else if (request.search) {
    watch = Stopwatch();
    links.make_others(report.gauge.plaquette, report.left_out);
    const std::vector<TriedLinks> tried = links.all();
    const auto try_systems = [&](std::span<const TriedSystem> list) {
      Judgement found = search(all, tried, request, report.asked, list, fields, report);
      if (found.residual < judged.residual) judged = std::move(found);
    };
    try_systems(systems);
    if (judged.residual > report.tolerance) fit_quarks(all, links, request, fields, report, judged);
    // One half alone is named where the other is something else, not where the other has an error.
    if (judged.residual > nearly_solved && !request.system) try_systems(halves);
    if (judged.residual <= report.tolerance)
      report.outcome = request.any_convention && !is_partial(judged.convention, systems)
                           ? CertifyOutcome::certified
                           : CertifyOutcome::other_convention;
    report.seconds["search"] = all.max(watch.seconds());
  }
  report.residuals = judged.residuals;
  report.attainable = judged.attainable;
  report.worst = judged.worst;
  if (judged.residual <= report.tolerance) report.convention = judged.convention;
  report.explanation = explain(report, judged.residual);
  return report;
}

}  // namespace staghorn
