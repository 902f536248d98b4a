#include "solver/session/many/batch_after_batch.hpp"

#include <algorithm>
#include <numeric>
#include <optional>

#include "solver/session/job/checkpoint_identity.hpp"
#include "solver/session/job/tally.hpp"
#include "solver/session/many/batch_checkpoint.hpp"

namespace staghorn {

SolveReport solve_batch_after_batch(Session& session, const SolveRequest& request, int batch, const SourceList& sources,
                                    SolutionSink* sink, const TakeSolution& take, const TakeSolution& again,
                                    const std::function<void(const CgProgress&)>& progress, PartOfJob& part_of_job) {
  const std::size_t all = sources.size(), n_masses = std::max<std::size_t>(request.masses.size(), 1);
  const SourceGroups batches(all, std::size_t(batch));
  BatchesSoFar so_far(n_masses * all, batches.count);
  std::optional<BatchCheckpoint> checkpoint;
  if (request.checkpoint) {
    std::map<std::string, std::string> identity = checkpoint_identity(session.resident(), request, sources.identity());
    identity["phases"] = to_string(request.phases);
    identity["batch"] = std::to_string(batch);
    part_of_job.add_to(identity);
    checkpoint.emplace(session.communicator(), session.lattice(), request, std::move(identity), sink, so_far);
    checkpoint->go_on(again);
    for (std::size_t number = 0; number < so_far.is_done.size(); ++number)
      if (so_far.is_done[number]) part_of_job.done(number, so_far.rhs[number]);
  }
  Tally tally;
  std::vector<VectorField> fields, solutions;
  for (std::size_t k = 0; k < batches.count; ++k) {
    if (!part_of_job.is_mine(batches.begin(k))) continue;
    const std::size_t n = batches.size(k);
    bool is_done = true;
    for (std::size_t i = 0; i < n_masses * n; ++i) is_done = is_done && so_far.is_done[batches.place(k, i)];
    if (is_done) continue;
    fields.clear();
    for (std::size_t i = 0; i < n; ++i) fields.push_back(sources.make(batches.begin(k) + i));
    solutions.assign(n_masses * n, VectorField(session.lattice()));
    if (checkpoint) checkpoint->begin(k);
    SolveReport part =
        session.solve(request, fields, solutions, progress, checkpoint ? &checkpoint->of_searches() : nullptr);
    for (std::size_t i = 0; i < part.rhs.size(); ++i) {
      const std::size_t number = batches.place(k, i);
      take(number, solutions[i]);
      if (checkpoint) checkpoint->remember(number, solutions[i]);
      so_far.rhs[number] = std::move(part.rhs[i]);
      so_far.is_done[number] = true;
      part_of_job.done(number, so_far.rhs[number]);
    }
    if (part.multi_shift) {
      so_far.shift_iterations[k] = double(part.multi_shift->iterations);
      so_far.sloppy_shift_iterations[k] = double(part.multi_shift->sloppy_iterations);
      so_far.shift_columns[k] = part.multi_shift->columns;
    }
    if (so_far.took_over.empty()) so_far.took_over = part.took_over;
    tally.add(std::move(part));
  }
  SolveReport whole = tally.report(std::move(so_far.rhs));
  whole.took_over = so_far.took_over;
  if (whole.multi_shift) {
    const std::vector<double>& columns = so_far.shift_columns;
    const auto sum = [](const std::vector<double>& all) { return long(std::accumulate(all.begin(), all.end(), 0.0)); };
    whole.multi_shift->iterations = sum(so_far.shift_iterations);
    whole.multi_shift->sloppy_iterations = sum(so_far.sloppy_shift_iterations);
    whole.multi_shift->columns = int(*std::max_element(columns.begin(), columns.end()));
  }
  if (checkpoint) whole.checkpoint = checkpoint->of_searches().summary();
  whole.batch = summary_of(batches, whole.rhs);
  return whole;
}

}  // namespace staghorn
