// What a solve reached, in words: why it may have stopped short, how far it was from the end, and what to do about it.
#include <algorithm>
#include <cmath>

#include "solver/report/solve_report.hpp"
#include "solver/request/words/formatted.hpp"

namespace staghorn {

namespace {

std::string number(double value) { return format("%.2g", value); }

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

constexpr std::size_t fewest = 20;  // iterations that tell a rate

// How often |r| falls by a factor of e in an iteration; 0: not known.
double rate_so_far(const std::vector<double>& history) {
  const std::size_t n = history.size(), half = n / 2;
  if (n < fewest || !(history[n - 1] > 0)) return 0;
  const double rate = std::log(history[half] / history[n - 1]) / double(n - 1 - half);
  return rate > 0 ? rate : 0;
}

// The same by the condition number. Of mixed precision the smallest eigenvalue is that of the mass: updates spoil what
// the coefficients say of it.
double rate_foreseen(const SolveReport& report, double mass, std::size_t iterations) {
  if (!report.spectrum || iterations < fewest) return 0;
  const double shift = 4 * mass * mass;
  const double root = report.options.sloppy ? root_condition_of_shift(report.spectrum->largest, shift)
                                            : root_condition(*report.spectrum, shift);
  return 1 / iterations_per_e(root);
}

// The tolerance of right-hand side i, mass by mass.
double tolerance_of(const SolveReport& report, std::size_t i) {
  const std::vector<double>& own = report.request.tolerances;
  if (own.empty()) return report.tolerance;
  const double of_mass = own[i / (report.rhs.size() / own.size())];
  return of_mass > 0 ? of_mass : report.tolerance;
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
           " Some numbers of its solution are so small or large that the vector it is written to holds them with fewer "
           "digits, or not at all: fp64 from 2.2e-308 to 1.8e308, fp32 from 1.2e-38 to 3.4e38. A source times a power "
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

std::optional<long> iterations_more(const SolveReport& report, std::size_t i) {
  const RhsReport& rhs = report.rhs[i];
  if (rhs.outcome != Outcome::out_of_iterations) return {};
  const std::vector<Target> targets = targets_of(report.request, tolerance_of(report, i), rhs);
  double left = std::log(targets[0].found / targets[0].asked);
  for (const Target& target : targets) left = std::max(left, std::log(target.found / target.asked));
  const double mass = report.multi_shift ? rhs.mass : report.request.mass;
  const double rate = std::max(rate_so_far(rhs.history), rate_foreseen(report, mass, rhs.history.size()));
  if (!(rate > 0) || !std::isfinite(left)) return {};
  return std::max(1L, long(std::min(std::ceil(left / rate), 1e15)));
}

}  // namespace staghorn
