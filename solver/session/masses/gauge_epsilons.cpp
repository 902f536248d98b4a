// Gauge::solve_epsilons: masses of several Naik epsilons. Each epsilon has links of its own, which are made in turn
// from the thin ones; the masses of one epsilon are solved together.
#include <algorithm>
#include <iterator>
#include <utility>

#include "halo/watch/error.hpp"
#include "halo/watch/stopwatch.hpp"
#include "solver/krylov/cg_progress.hpp"
#include "solver/request/solve_checks.hpp"
#include "solver/session/gauge.hpp"

namespace staghorn {

namespace {

// Masses of one epsilon, by their places in the request.
struct EpsilonGroup {
  double epsilon;
  std::vector<std::size_t> masses;
};

// In the order of the request, but those of the links that are there, `own`, first.
std::vector<EpsilonGroup> groups_of(const SolveRequest& request, double own) {
  std::vector<EpsilonGroup> groups{{own, {}}};
  for (std::size_t k = 0; k < request.masses.size(); ++k) {
    const double epsilon = request.naik_epsilons[k].value_or(own);
    auto group = std::find_if(groups.begin(), groups.end(), [&](const auto& g) { return g.epsilon == epsilon; });
    if (group == groups.end()) group = groups.insert(group, {epsilon, {}});
    group->masses.push_back(k);
  }
  if (groups[0].masses.empty()) groups.erase(groups.begin());
  return groups;
}

SolveRequest request_of(const SolveRequest& request, const EpsilonGroup& group) {
  SolveRequest of_group = request;
  of_group.naik_epsilons.clear();
  of_group.masses.clear();
  of_group.tolerances.clear();
  for (const std::size_t k : group.masses) {
    of_group.masses.push_back(request.masses[k]);
    if (!request.tolerances.empty()) of_group.tolerances.push_back(request.tolerances[k]);
  }
  return of_group;
}

// Adds what a group reached, all but its right-hand sides, to what those before did.
void add_report(SolveReport& whole, const SolveReport& of_group) {
  whole.outcome = std::max(whole.outcome, of_group.outcome);
  if (whole.explanation.empty()) whole.explanation = of_group.explanation;
  for (const auto& [phase, seconds] : of_group.seconds)
    if (phase != "read") whole.seconds[phase] += seconds;
  for (const auto& [object, bytes] : of_group.memory_bytes)
    whole.memory_bytes[object] = std::max(whole.memory_bytes[object], bytes);
  for (const auto& [object, bytes] : of_group.predicted_memory_bytes)
    whole.predicted_memory_bytes[object] = std::max(whole.predicted_memory_bytes[object], bytes);
  if (of_group.multi_shift) {
    whole.multi_shift->iterations += of_group.multi_shift->iterations;
    whole.multi_shift->columns = std::max(whole.multi_shift->columns, of_group.multi_shift->columns);
  }
}

}  // namespace

SolveReport Gauge::solve_epsilons(const SolveRequest& request, std::span<const VectorField> sources,
                                  std::span<VectorField> solutions, const ShowProgress& progress,
                                  const SolveHabits& habits) {
  check_epsilons(request, options_);
  check_fields(context_.communicator(), lattice(), sources, solutions, request.masses.size());
  const double own = options_.quarks.naik_epsilon.value_or(0);
  const std::vector<EpsilonGroup> groups = groups_of(request, own);
  const std::size_t n_rhs = sources.size();
  if (deflation_ && (groups.size() > 1 || groups[0].epsilon != own))
    throw Error("masses", "the epsilon of the links, for these have the eigenvectors", groups.back().epsilon);
  if (request.checkpoint && groups.size() > 1)
    throw Error("checkpoint", "masses of one epsilon", std::to_string(groups.size()) + " epsilons");
  SolveReport whole;
  std::vector<RhsReport> rhs(solutions.size());
  const auto solve_group = [&](const EpsilonGroup& group) {
    const Stopwatch making;
    set_epsilon(group.epsilon);
    const double making_seconds = context_.communicator().max(making.seconds());
    std::vector<VectorField> of_group;
    for (const std::size_t k : group.masses)
      std::move(solutions.begin() + std::ptrdiff_t(k * n_rhs), solutions.begin() + std::ptrdiff_t((k + 1) * n_rhs),
                std::back_inserter(of_group));
    SolveReport report = solve_masses(request_of(request, group), sources, of_group, progress, habits);
    for (std::size_t j = 0; j < of_group.size(); ++j) {
      const std::size_t place = group.masses[j / n_rhs] * n_rhs + j % n_rhs;
      solutions[place] = std::move(of_group[j]);
      rhs[place] = std::move(report.rhs[j]);
      rhs[place].naik_epsilon = group.epsilon;
    }
    report.seconds["setup"] += making_seconds;
    const MultiShiftSummary shifts = *report.multi_shift;
    if (whole.rhs.empty())
      whole = std::move(report);
    else
      add_report(whole, report);
    whole.multi_shift->groups.push_back(
        {group.epsilon, request_of(request, group).masses, shifts.iterations, shifts.columns, shifts.precision});
  };
  try {
    for (const EpsilonGroup& group : groups) solve_group(group);
  } catch (...) {
    set_epsilon(own);
    throw;
  }
  set_epsilon(own);
  whole.rhs = std::move(rhs);
  whole.request = request;
  whole.improved = improved_->summary;
  return whole;
}

}  // namespace staghorn
