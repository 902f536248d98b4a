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
#include "solver/session/certify/judge.hpp"

namespace staghorn {

namespace {

std::string number(double value) { return format("%.3g", value); }

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
  // their plaquette. Actions that the lattice or its links do not allow are left out.
  void make_others(double plaquette) {
    if (tried_.front().quarks.stored()) return;
    QuarkAction naive, asqtad, tadpole, hisq;
    asqtad.action = tadpole.action = Action::asqtad;
    tadpole.u0 = std::sqrt(std::sqrt(plaquette));
    hisq.action = Action::hisq;
    for (const QuarkAction& quarks : {naive, asqtad, tadpole, hisq}) {
      const auto same = [&](const TriedLinks& tried) {
        return tried.quarks.action == quarks.action && tried.quarks.u0.value_or(1) == quarks.u0.value_or(1) &&
               tried.quarks.naik_epsilon.value_or(0) == 0;
      };
      if (std::any_of(tried_.begin(), tried_.end(), same)) continue;
      try {
        make(quarks);
      } catch (const Error&) {  // on all ranks alike: a short lattice, a link that has no projection
      }
    }
  }
  std::vector<TriedLinks> all() const { return {tried_.begin(), tried_.end()}; }

 private:
  const Communicator& communicator_;
  OperatorLinks given_;
  std::deque<ImprovedLinks> made_;
  std::deque<TriedLinks> tried_;
};

// The systems that are judged: the one that was asked for, or all that fields with these zeros can solve.
std::vector<Convention> systems(const Convention& asked, const CertifyRequest& request, const Norms2& x) {
  std::vector<Convention> list;
  const auto add = [&](bool squared, std::optional<Parity> parity) {
    list.push_back(asked);
    list.back().squared = squared;
    list.back().parity = parity;
  };
  const bool any = !request.system;
  if (any || request.system == System::full) add(false, std::nullopt);
  if (any && x.even > 0 && x.odd > 0) add(true, std::nullopt);
  if ((any && x.even > 0) || request.system == System::even) add(true, Parity::even);
  if ((any && x.odd > 0) || request.system == System::odd) add(true, Parity::odd);
  return list;
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

bool is_as_asked(const Convention& found, const CertifyRequest& request) {
  return !found.adjoint && found.factor == 1 && (!request.mass || found.mass == *request.mass);
}

// What the residual of the convention that was asked for says.
Judgement judge_asked(const Communicator& communicator, const OperatorLinks& links, const CertifyRequest& request,
                      const std::vector<Convention>& of_systems, const JudgedFields& fields, double tolerance) {
  std::optional<Judgement> best;
  for (Convention convention : of_systems) {
    convention.mass = request.mass.value_or(0);
    const Judgement found =
        request.mass ? judge_as_named(communicator, links, convention, fields, request.stored)
                     : judge(communicator, links, convention, fields, std::nullopt, tolerance, request.stored);
    if (!best || (is_as_asked(found.convention, request) && !(found.residual >= best->residual))) best = found;
    if (best->residual <= tolerance && is_as_asked(best->convention, request)) break;
  }
  return *best;
}

// The best of what the search proposes; of those that are alike the first.
Judgement search(const Communicator& communicator, LinksOfQuarks& links, const CertifyRequest& request,
                 const Convention& asked, const JudgedFields& fields, CertifyReport& report) {
  links.make_others(report.gauge.plaquette);
  const std::vector<TriedLinks> all = links.all();
  const Shortlist list = shortlist(communicator, all, asked, fields.solutions.front(), fields.sources.front());
  report.tried = list.tried;
  Judgement best;
  for (const Candidate& candidate : list.candidates) {
    Judgement found = judge(communicator, candidate.tried->links, candidate.convention, fields, request.mass,
                            report.tolerance, request.stored);
    if (found.residual < best.residual / 2) best = std::move(found);
  }
  return best;
}

std::string explain(const CertifyReport& report, double residual) {
  const std::string limit = ", the tolerance is " + number(report.tolerance) + ".";
  if (report.outcome == CertifyOutcome::certified) return "";
  const std::string asked =
      "The residual of " + equation(report.asked) + " is " + number(report.residual_asked) + limit;
  if (report.outcome == CertifyOutcome::rounded)
    return asked + " Rounding of the numbers to " + to_string(report.request.stored) + " alone leaves about " +
           number(report.attainable) + ".";
  if (report.outcome == CertifyOutcome::other_convention)
    return asked + " In the convention that was found it is " + number(residual) + ".";
  if (report.tried == 0) return asked;
  const Coordinates& x = report.worst.site;
  return asked + format(
                     " None of %ld conventions makes it small: the smallest is %.3g; vector %d has %.0f %% of it at "
                     "the site %d,%d,%d,%d.",
                     report.tried, residual, report.worst.rhs, 100 * report.worst.share, x[0], x[1], x[2], x[3]);
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
  Judgement judged =
      judge_asked(all, own.links, request, systems(report.asked, request, norms2(all, solutions.front())), fields,
                  report.tolerance);
  const bool as_asked = is_as_asked(judged.convention, request);
  report.asked = judged.convention;
  report.residual_asked = judged.residual;
  report.seconds["certify"] = all.max(watch.seconds());
  if (as_asked && judged.residual <= report.tolerance)
    report.outcome = CertifyOutcome::certified;
  else if (as_asked && judged.residual <= judged.attainable)
    report.outcome = CertifyOutcome::rounded;
  else if (request.search) {
    watch = Stopwatch();
    Convention start = report.asked;
    start.adjoint = false;
    judged = search(all, links, request, start, fields, report);
    if (judged.residual <= report.tolerance)
      report.outcome = request.any_convention ? CertifyOutcome::certified : CertifyOutcome::other_convention;
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
