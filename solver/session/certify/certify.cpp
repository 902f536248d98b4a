#include "solver/session/certify/certify.hpp"

#include <omp.h>

#include <algorithm>
#include <cmath>

#include "dirac/fields/plain_algebra.hpp"
#include "halo/watch/error.hpp"
#include "halo/watch/stopwatch.hpp"
#include "lattice_io/content/field_faults.hpp"
#include "solver/gauge/gauge.hpp"
#include "solver/report/provenance.hpp"
#include "solver/request/solve_checks.hpp"
#include "solver/request/words/formatted.hpp"
#include "solver/session/certify/convention_search.hpp"
#include "solver/session/certify/fitted_quarks.hpp"
#include "solver/session/certify/judge.hpp"
#include "solver/session/certify/tried_quarks.hpp"
#include "solver/session/passes/scaled_sources.hpp"

namespace staghorn {

namespace {

constexpr double nearly_solved = 1e-3;  // a residual that no other equation leaves

std::string short_number(double value) { return format("%.3g", value); }

// The systems that solutions with these zeros can solve as a whole, or the one that was asked for.
std::vector<TriedSystem> whole_systems(const Communicator& communicator, const std::optional<System>& asked,
                                       std::span<const VectorField> solutions) {
  Norms2 x;
  for (const VectorField& solution : solutions) {
    const Norms2 norms = norms2(communicator, solution);
    x.even += norms.even;
    x.odd += norms.odd;
  }
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
    throw Error("source",
                std::to_string(solutions.size()) + " vectors, one for each solution (`color` chooses one of three)",
                sources.size());
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

// A search for the convention that leaves the smallest residual.
class Search {
 public:
  Search(const Communicator& communicator, TriedQuarks& quarks, const CertifyRequest& request,
         const JudgedFields& fields, CertifyReport& report, Judgement& best)
      : communicator_(communicator),
        quarks_(quarks),
        request_(request),
        fields_(fields),
        report_(report),
        best_(best) {}

  // The quarks that were asked for come first, as links of others take time. `whole`: see whole_systems.
  void run(std::span<const TriedSystem> whole) {
    try_all(std::vector{quarks_.asked()}, whole);
    if (best_.residual < nearly_solved) return;
    try_all(quarks_.make_others(report_.gauge.plaquette, report_.left_out), whole);
    // One half alone is named where the other is something else, not where the other has an error.
    if (best_.residual < nearly_solved || request_.system) return;
    const TriedSystem halves[] = {{true, Parity::even}, {true, Parity::odd}};
    try_all(quarks_.all(), halves);
  }

 private:
  void try_all(std::span<const TriedLinks> links, std::span<const TriedSystem> systems) {
    const Shortlist list =
        shortlist(communicator_, links, systems, report_.asked, fields_.solutions.front(), fields_.sources.front());
    report_.tried += list.tried;
    for (const Candidate& candidate : list.candidates) keep_better(candidate.tried->links, candidate.convention);
    fit_quarks();
  }

  // Of those that are alike the first stays.
  void keep_better(const OperatorLinks& links, const Convention& trial) {
    Judgement found = judge(communicator_, links, trial, fields_, request_.mass, report_.tolerance, request_.stored);
    if (!(found.residual >= best_.residual / 2)) best_ = std::move(found);
  }

  // Where the best is asqtad or HISQ with a residual as of another tadpole factor or epsilon: the same with that.
  void fit_quarks() {
    const Convention convention = best_.convention;
    if (!quarks_.thin() || !convention.quarks.improved() || best_.residual < std::max(report_.tolerance, 1e-6)) return;
    const auto fitted = fitted_quarks(communicator_, *quarks_.thin(), convention, fields_, report_.tolerance);
    if (!fitted) return;
    Convention trial = convention;
    trial.quarks = *fitted;
    keep_better(quarks_.make(*fitted).links, trial);
  }

  const Communicator& communicator_;
  TriedQuarks& quarks_;
  const CertifyRequest& request_;
  const JudgedFields& fields_;
  CertifyReport& report_;
  Judgement& best_;
};

// Solutions and sources, or copies multiplied by powers of two where squares of a source leave the range of a double:
// residuals are relative.
class FieldsInRange {
 public:
  FieldsInRange(const Communicator& communicator, std::span<const VectorField> solutions,
                std::span<const VectorField> sources)
      : solutions_(solutions), sources_(sources) {
    std::vector<double> norms = source_norms2(communicator, System::full, sources);
    if (std::none_of(norms.begin(), norms.end(), is_out_of_range)) return;
    for (std::size_t i = 0; i < sources.size(); ++i) {
      copies_of_solutions_.push_back(solutions[i]);
      copies_of_sources_.push_back(sources[i]);
      const int times = bring_into_range(communicator, System::full, copies_of_sources_[i], norms[i]);
      multiply_times(System::full, copies_of_solutions_[i], times);
    }
    solutions_ = copies_of_solutions_;
    sources_ = copies_of_sources_;
  }
  JudgedFields fields() const { return {solutions_, sources_}; }

 private:
  std::span<const VectorField> solutions_, sources_;
  std::vector<VectorField> copies_of_solutions_, copies_of_sources_;
};

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
  const FieldsInRange in_range(all, solutions, sources);
  const JudgedFields fields = in_range.fields();
  TriedQuarks quarks(all, session.resident().links().all_on_host(), request.quarks);
  const std::vector<TriedSystem> systems = whole_systems(all, request.system, fields.solutions);
  Judgement judged = judge_asked(all, quarks.asked().links, request, report.asked, systems, fields, report.tolerance);
  report.asked = judged.convention;
  report.residual_asked = judged.residual;
  report.seconds["certify"] = all.max(watch.seconds());
  if (judged.residual <= report.tolerance)
    report.outcome = CertifyOutcome::certified;
  else if (judged.residual <= judged.attainable)
    report.outcome = CertifyOutcome::rounded;
  else if (request.search) {
    watch = Stopwatch();
    Search(all, quarks, request, fields, report, judged).run(systems);
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
