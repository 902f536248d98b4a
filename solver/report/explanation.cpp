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

// From the average decay over the second half of the history: iterations that the way to `tolerance` would still take.
std::string estimate_iterations(const RhsReport& rhs, double tolerance) {
  const std::size_t n = rhs.history.size(), half = n / 2;
  if (n < 20 || !(rhs.residual_true > tolerance)) return "";
  const double decay = std::log(rhs.history[half] / rhs.history[n - 1]) / double(n - 1 - half);
  if (!(decay > 0)) return "";
  return " At its present rate it needs about " + number(std::log(rhs.residual_true / tolerance) / decay) + " more.";
}

// The other tolerance, where the usual residual is small enough.
std::string about_hq(const SolveReport& report, const RhsReport& rhs) {
  if (!report.request.tolerance_hq || rhs.residual_hq <= *report.request.tolerance_hq) return "";
  return " The heavy-quark residual is " + number(rhs.residual_hq) + ", `tolerance_hq` asked for " +
         number(*report.request.tolerance_hq) + ".";
}

std::string about_attainable(const RhsReport& rhs) {
  if (!(rhs.attainable > 0)) return "";
  return " Rounding in fp64 leaves about " + number(rhs.attainable) + " for a solution as large as this one.";
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
  switch (worst->outcome) {
    case Outcome::out_of_iterations:
      return text + " `max_iterations` " + std::to_string(report.request.max_iterations) + " was the limit." +
             about_hq(report, *worst) + estimate_iterations(*worst, report.tolerance) + about_spectrum(report) +
             " A small mass or a rough configuration needs many iterations; `guess` continues from this solution.";
    case Outcome::stagnated:
      return text + about_hq(report, *worst) + about_attainable(*worst) +
             " CG converged by its own count, but rounding in " + to_string(report.options.precision) +
             " keeps the true residual from falling further: `tolerance` " + number(2 * worst->residual_true) +
             " is within reach" +
             (report.options.precision == Precision::fp32 ? ", `precision` fp64 goes further." : ".");
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
