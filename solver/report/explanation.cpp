#include "solver/report/explanation.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace staghorn {

namespace {

std::string number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2g", value);
  return text;
}

// What the limit was, and how far it was from enough.
std::string about_limit(const SolveReport& report, const RhsReport& rhs) {
  const std::optional<long>& limit = report.request.max_iterations;
  std::string text = limit && rhs.iterations >= *limit
                         ? " `max_iterations` " + std::to_string(*limit) + " was the limit."
                         : " The solve was stopped.";
  if (rhs.iterations_more)
    text += " It would take about " + number(double(*rhs.iterations_more)) + " more.";
  else
    text += " They are too few to say how many more it would take.";
  return text;
}

// The other tolerance, where the usual residual is small enough.
std::string about_hq(const SolveReport& report, const RhsReport& rhs) {
  const std::vector<Target> targets = targets_of(report.request, report.tolerance, rhs);
  if (targets.size() < 2 || targets[1].found <= targets[1].asked) return "";
  return " The heavy-quark residual is " + number(targets[1].found) + ", `" + targets[1].option + "` asked for " +
         number(targets[1].asked) + ".";
}

std::string about_attainable(const RhsReport& rhs) {
  if (!(rhs.attainable > 0)) return "";
  return " Rounding in fp64 leaves about " + number(rhs.attainable) + " for a solution as large as this one.";
}

// Tolerances that would be met, of those that are missing: above what was reached, as another solve may end elsewhere
// in the noise of rounding.
std::string within_reach(const SolveReport& report, const RhsReport& rhs) {
  std::string reached, not_reached;
  const auto add = [&](const char* name, double safe) {
    std::string& list = safe < 1 ? reached : not_reached;
    list += (list.empty() ? "`" : " and `") + std::string(name) + "`" + (safe < 1 ? " " + number(safe) : "");
  };
  for (const Target& target : targets_of(report.request, report.tolerance, rhs))
    if (target.found > target.asked) add(target.option, target.safe);
  if (!not_reached.empty()) return "; no " + not_reached + " below 1 is within reach";
  return ": " + reached + " is within reach";
}

// Why the residual that is missing falls no further.
std::string about_stagnation(const SolveReport& report, const RhsReport& rhs) {
  const std::string precision = to_string(report.options.precision);
  std::string text = " CG took far more iterations without gain than such a matrix should need, as where rounding in " +
                     precision + " spoils its search directions";
  if (rhs.residual_iterated <= report.tolerance)
    text = " CG converged by its own count, but rounding in " + precision + " keeps the " +
           (rhs.residual_true <= report.tolerance ? "heavy-quark" : "true") + " residual from falling further";
  return text + within_reach(report, rhs) +
         (report.options.precision == Precision::fp32 ? ", `precision` fp64 goes further." : ".");
}

// What CG found out of A, and the iterations that such a matrix may need.
std::string about_spectrum(const SolveReport& report) {
  if (!report.spectrum) return "";
  const SpectrumEstimate& of_A = *report.spectrum;
  return " CG saw eigenvalues of A from " + number(of_A.smallest) + " to " + number(of_A.largest) +
         ", a condition number of " + number(of_A.condition()) + " or more: such a matrix may need up to " +
         number(std::sqrt(of_A.condition()) / 2 * std::log(2 / report.tolerance)) + " iterations.";
}

}  // namespace

std::string explain(const SolveReport& report) {
  if (report.outcome == Outcome::certified || report.rhs.empty()) return "";
  const auto worst = std::max_element(report.rhs.begin(), report.rhs.end(), [](const auto& a, const auto& b) {
    return a.outcome != b.outcome ? a.outcome < b.outcome : a.residual_true < b.residual_true;
  });
  std::string text = "Right-hand side " + std::to_string(worst - report.rhs.begin()) +
                     " reached |r|/|b| = " + number(worst->residual_true) + " where " + number(report.tolerance) +
                     " was asked for, after " + std::to_string(worst->iterations) + " iterations.";
  if (worst->digits_lost)
    return text +
           " Some numbers of its solution are so small or large that the vector it is written to holds them with "
           "fewer " +
           "digits, or not at all: fp64 from 2.2e-308 to 1.8e308, fp32 from 1.2e-38 to 3.4e38. A source times a "
           "power " +
           "of two has the same solution times that power.";
  const bool several_solves = !report.request.masses.empty() || report.batch;  // they start from zero
  switch (worst->outcome) {
    case Outcome::out_of_iterations:
      return text + about_hq(report, *worst) + about_limit(report, *worst) + about_spectrum(report) +
             " A small mass or a rough configuration needs many iterations" +
             (several_solves ? "." : "; `guess` continues from this solution.");
    case Outcome::stagnated:
      return text + about_hq(report, *worst) + about_attainable(*worst) + about_stagnation(report, *worst);
    case Outcome::breakdown:
      if (worst->iterations == 0 && worst->shift_iterations == 0 && !std::isfinite(worst->residual_true))
        return text + " The initial guess is so large that a double cannot hold |b - M x|^2: `guess` another, or none.";
      return text +
             " CG broke down: a search direction had no positive norm under A, or numbers overflowed. At mass 0 " +
             "A may be singular." + about_spectrum(report);
    case Outcome::certified:
      break;
  }
  return text;
}

void conclude(SolveReport& report) {
  report.outcome = Outcome::certified;
  for (const RhsReport& rhs : report.rhs) report.outcome = std::max(report.outcome, rhs.outcome);
  report.explanation = explain(report);
}

}  // namespace staghorn
