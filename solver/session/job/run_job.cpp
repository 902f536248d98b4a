#include "solver/session/job/run_job.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "halo/watch/error.hpp"
#include "halo/watch/stopwatch.hpp"
#include "solver/krylov/table/solver_table.hpp"
#include "solver/request/solve_checks.hpp"
#include "solver/session/job/checkpoint_identity.hpp"
#include "solver/session/job/job_plan.hpp"
#include "solver/session/job/tally.hpp"

namespace staghorn {

namespace {

// Solutions batch after batch while these are solved; in the end, or where one throws, in the order of the job.
class BatchedSolutions {
 public:
  BatchedSolutions(std::span<VectorField> solutions, const JobPlan& plan) : solutions_(solutions) {
    for (const Batch& batch : plan.batches) places_.insert(places_.end(), batch.places.begin(), batch.places.end());
    for (const std::size_t place : places_) batched_.push_back(std::move(solutions_[place]));
  }
  ~BatchedSolutions() {
    for (std::size_t j = 0; j < places_.size(); ++j) solutions_[places_[j]] = std::move(batched_[j]);
  }
  BatchedSolutions(const BatchedSolutions&) = delete;
  BatchedSolutions& operator=(const BatchedSolutions&) = delete;

  std::span<VectorField> fields() { return batched_; }
  std::size_t place(std::size_t j) const { return places_[j]; }  // in the job, of field j of the batches

 private:
  std::span<VectorField> solutions_;
  std::vector<std::size_t> places_;
  std::vector<VectorField> batched_;
};

// What the batches that are done have come to, for a checkpoint and for the report.
struct JobSoFar {
  std::vector<RhsReport> rhs;                    // in the order of the batches
  std::vector<MultiShiftSummary::Group> groups;  // of each epsilon
  std::string explanation;

  // Of a job by epsilons, each of which is one batch.
  void visit(const Archive& archive, std::size_t n_sources) {
    archive("groups", groups);
    std::size_t n_masses = 0;
    for (const auto& group : groups) n_masses += group.masses.size();
    archive("rhs", rhs, n_masses * n_sources);
    archive("explanation", explanation);
  }

  void add(const Batch& batch, SolveReport& report) {
    if (batch.epsilon) {
      for (RhsReport& done : report.rhs) done.naik_epsilon = *batch.epsilon;
      const MultiShiftSummary& shifts = *report.multi_shift;
      if (groups.empty() || groups.back().naik_epsilon != *batch.epsilon)
        groups.push_back({*batch.epsilon, batch.request.masses, 0, 0, 0, shifts.precision});
      groups.back().iterations += shifts.iterations;
      groups.back().sloppy_iterations += shifts.sloppy_iterations;
      groups.back().columns = std::max(groups.back().columns, shifts.columns);
    }
    std::move(report.rhs.begin(), report.rhs.end(), std::back_inserter(rhs));
    if (explanation.empty()) explanation = report.explanation;
  }

  MultiShiftSummary shifts() const {
    MultiShiftSummary all{0, 0, 0, groups[0].precision, groups};
    for (const auto& group : groups) {
      all.iterations += group.iterations;
      all.sloppy_iterations += group.sloppy_iterations;
      all.columns = std::max(all.columns, group.columns);
    }
    return all;
  }
};

void check_job(const Gauge& gauge, const BatchWork& job, std::size_t most) {
  const SolveRequest& request = job.request;
  check_epsilons(request, gauge.options());
  const SolverEntry& solver = solver_for(gauge.options());
  if (!request.masses.empty() && !solver.can.shift && !solver.can.blocks)
    throw Error("solver", "another one with several masses", solver.name);
  if (solver.can.blocks && request.system == System::odd)
    throw Error("system", "full or even with `coarse`, whose blocks have even sites", "odd");
  if (gauge.eigenpairs().deflation() && !request.naik_epsilons.empty())
    if (const double last = epsilon_groups(request, gauge.epsilon()).back().epsilon; last != gauge.epsilon())
      throw Error("masses", "the epsilon of the links, for these have the eigenvectors", last);
  if (job.sources.size() <= most) return;
  for (const auto& [name, is_set] : {std::pair{"checkpoint", request.checkpoint || job.checkpoints},
                                     std::pair{"chronological", request.chronological > 0}})
    if (is_set)
      throw Error(name, "at most " + std::to_string(most) + " right-hand sides with eigenvectors", job.sources.size());
}

}  // namespace

SolveReport run_job(Gauge& gauge, const BatchWork& job) {
  const SolveRequest& request = job.request;
  const Communicator& all = gauge.context().communicator();
  const std::size_t n_sources = job.sources.size(), most = most_at_once(request, gauge.eigenpairs().deflation(request));
  const double own = gauge.epsilon();
  const bool by_epsilon = !request.naik_epsilons.empty();
  check_job(gauge, job, most);
  const JobPlan plan = plan_job(request, n_sources, most, own);

  std::optional<Checkpoints> own_checkpoints;
  Checkpoints* checkpoints = job.checkpoints;
  if (!checkpoints && request.checkpoint)
    checkpoints = &own_checkpoints.emplace(all, gauge.context().lattice(), request,
                                           checkpoint_identity(gauge, request, hashes_of(all, job.sources)));
  Tally tally;
  JobSoFar so_far;
  const auto visit = [&](const Archive& archive) {
    archive("epsilons", [&](const Archive& epsilons) { so_far.visit(epsilons, n_sources); });
  };
  BatchedSolutions solutions(job.solutions, plan);
  const bool encloses = by_epsilon && checkpoints;
  if (encloses) checkpoints->enclose(visit, solutions.fields());
  try {
    for (std::size_t k = so_far.groups.size(); k < plan.batches.size(); ++k) {
      const Batch& batch = plan.batches[k];
      const Stopwatch making;
      if (batch.epsilon) gauge.set_epsilon(*batch.epsilon);
      const double making_seconds = batch.epsilon ? all.max(making.seconds()) : 0;
      const std::size_t first = so_far.rhs.size();
      const BatchWork work{batch.request,
                           job.sources.subspan(batch.first_source, batch.n_sources),
                           job.b2.subspan(batch.first_source, batch.n_sources),
                           solutions.fields().subspan(first, batch.places.size()),
                           job.progress,
                           job.interrupted,
                           checkpoints,
                           first};
      SolveReport report = request.masses.empty() ? solve_one_mass(gauge, work) : solve_masses(gauge, work);
      report.seconds["setup"] += making_seconds;
      so_far.add(batch, report);
      tally.add(std::move(report));
    }
  } catch (...) {
    gauge.set_epsilon(own);
    throw;
  }
  gauge.set_epsilon(own);
  if (encloses) checkpoints->end_enclosure();

  std::vector<RhsReport> rhs(job.solutions.size());
  for (std::size_t j = 0; j < rhs.size(); ++j) rhs[solutions.place(j)] = std::move(so_far.rhs[j]);
  SolveReport whole = tally.report(std::move(rhs));
  whole.explanation = so_far.explanation;
  whole.request = request;
  if (plan.groups.count > 1) whole.batch = summary_of(plan.groups, whole.rhs);
  if (!by_epsilon) return whole;
  whole.multi_shift = so_far.shifts();
  whole.improved = gauge.links().improved()->summary;
  const auto bytes = std::int64_t(job.solutions.size() + n_sources) * job.sources[0].bytes();
  whole.memory_bytes["sources_solutions"] = whole.predicted_memory_bytes["sources_solutions"] = double(all.sum(bytes));
  return whole;
}

}  // namespace staghorn
