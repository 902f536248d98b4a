// Gauge::solve_epsilons: masses of several Naik epsilons. Each epsilon has links of its own, which are made in turn
// from the thin ones; the masses of one epsilon are solved together.
#include <algorithm>
#include <optional>
#include <utility>

#include "halo/watch/error.hpp"
#include "halo/watch/stopwatch.hpp"
#include "solver/checkpoint/checkpoints.hpp"
#include "solver/krylov/cg_progress.hpp"
#include "solver/request/solve_checks.hpp"
#include "solver/session/gauge.hpp"
#include "solver/session/groups/merged_report.hpp"

namespace staghorn {

namespace {

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

// Solutions in the order of the groups while these are solved; in the end, or where one throws, in that of the request.
class GroupedSolutions {
 public:
  GroupedSolutions(std::span<VectorField> solutions, const std::vector<EpsilonGroup>& groups, std::size_t n_rhs)
      : solutions_(solutions) {
    for (const EpsilonGroup& group : groups)
      for (const std::size_t k : group.masses)
        for (std::size_t i = 0; i < n_rhs; ++i) places_.push_back(k * n_rhs + i);
    for (const std::size_t place : places_) grouped_.push_back(std::move(solutions_[place]));
  }
  ~GroupedSolutions() {
    for (std::size_t j = 0; j < places_.size(); ++j) solutions_[places_[j]] = std::move(grouped_[j]);
  }
  GroupedSolutions(const GroupedSolutions&) = delete;
  GroupedSolutions& operator=(const GroupedSolutions&) = delete;

  std::span<VectorField> fields() { return grouped_; }
  std::size_t place(std::size_t j) const { return places_[j]; }

 private:
  std::span<VectorField> solutions_;
  std::vector<std::size_t> places_;  // in the request, of each field in the order of the groups
  std::vector<VectorField> grouped_;
};

// What the groups that are done have reached, for a checkpoint: right-hand sides in the order of the groups.
struct EpsilonsSoFar {
  std::vector<RhsReport> rhs;
  std::vector<MultiShiftSummary::Group> groups;
  std::string explanation;

  void visit(const Archive& archive, std::size_t n_rhs) {
    archive("groups", groups);
    std::size_t n_masses = 0;
    for (const auto& group : groups) n_masses += group.masses.size();
    archive("rhs", rhs, n_masses * n_rhs);
    archive("explanation", explanation);
  }
  void add(const EpsilonGroup& group, const SolveRequest& of_group, SolveReport& report) {
    for (RhsReport& done : report.rhs) {
      done.naik_epsilon = group.epsilon;
      rhs.push_back(std::move(done));
    }
    const MultiShiftSummary& shifts = *report.multi_shift;
    groups.push_back({group.epsilon, of_group.masses, shifts.iterations, shifts.sloppy_iterations, shifts.columns,
                      shifts.precision});
    if (explanation.empty()) explanation = report.explanation;
  }
};

}  // namespace

SolveReport Gauge::solve_epsilons(const SolveRequest& request, std::span<const VectorField> sources,
                                  std::span<VectorField> solutions, const ShowProgress& progress,
                                  const SolveHabits& habits) {
  check_epsilons(request, options_);
  const double own = options_.quarks.naik_epsilon.value_or(0);
  const std::vector<EpsilonGroup> groups = epsilon_groups(request, own);
  const std::size_t n_rhs = sources.size();
  if (deflation_ && (groups.size() > 1 || groups[0].epsilon != own))
    throw Error("masses", "the epsilon of the links, for these have the eigenvectors", groups.back().epsilon);
  SolveHabits of_groups = habits;
  std::optional<Checkpoints> own_checkpoints;
  of_groups.checkpoints = checkpoints_of(request, sources, habits, own_checkpoints);

  SolveReport whole;
  EpsilonsSoFar so_far;
  {
    GroupedSolutions grouped(solutions, groups, n_rhs);
    const auto visit = [&](const Archive& archive) {
      archive("epsilons", [&](const Archive& epsilons) { so_far.visit(epsilons, n_rhs); });
    };
    if (of_groups.checkpoints) of_groups.checkpoints->enclose(visit, grouped.fields());
    const auto solve_group = [&](const EpsilonGroup& group) {
      const Stopwatch making;
      set_epsilon(group.epsilon);
      const double making_seconds = context_.communicator().max(making.seconds());
      const SolveRequest of_group = request_of(request, group);
      of_groups.first_solution = so_far.rhs.size();
      SolveReport report = solve_masses(of_group, sources,
                                        grouped.fields().subspan(of_groups.first_solution, group.masses.size() * n_rhs),
                                        progress, of_groups);
      report.seconds["setup"] += making_seconds;
      so_far.add(group, of_group, report);
      const std::optional<CheckpointSummary> checkpoint = report.checkpoint;
      merge(whole, std::move(report));
      whole.checkpoint = checkpoint;
    };
    try {
      for (std::size_t g = so_far.groups.size(); g < groups.size(); ++g) solve_group(groups[g]);
    } catch (...) {
      set_epsilon(own);
      throw;
    }
    set_epsilon(own);
    if (of_groups.checkpoints) of_groups.checkpoints->end_enclosure();
    whole.rhs.assign(solutions.size(), {});
    for (std::size_t j = 0; j < so_far.rhs.size(); ++j) whole.rhs[grouped.place(j)] = std::move(so_far.rhs[j]);
  }
  const double fields = double(context_.communicator().sum(std::int64_t((request.masses.size() + 1) * n_rhs) *
                                                           sources[0].bytes()));  // of all groups
  whole.memory_bytes["sources_solutions"] = whole.predicted_memory_bytes["sources_solutions"] = fields;
  whole.explanation = so_far.explanation;
  whole.outcome = Outcome::certified;
  for (const RhsReport& rhs : whole.rhs) whole.outcome = std::max(whole.outcome, rhs.outcome);
  whole.multi_shift = MultiShiftSummary{0, 0, 0, so_far.groups[0].precision, so_far.groups};
  for (const auto& group : so_far.groups) {
    whole.multi_shift->iterations += group.iterations;
    whole.multi_shift->sloppy_iterations += group.sloppy_iterations;
    whole.multi_shift->columns = std::max(whole.multi_shift->columns, group.columns);
  }
  whole.request = request;
  whole.improved = improved_->summary;
  return whole;
}

}  // namespace staghorn
