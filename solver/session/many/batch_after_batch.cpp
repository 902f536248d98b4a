#include "solver/session/many/batch_after_batch.hpp"

#include <algorithm>

namespace staghorn {

namespace {

// Adds what another batch came to: `n` right-hand sides from `first` on, of `all` in the whole.
void merge(SolveReport& whole, SolveReport&& part, std::size_t first, std::size_t n, std::size_t all) {
  const std::size_t n_masses = part.rhs.size() / n;
  std::vector<RhsReport> rhs = std::move(part.rhs);
  if (first == 0) {
    whole = std::move(part);
    whole.rhs.assign(n_masses * all, {});
  } else {
    whole.outcome = std::max(whole.outcome, part.outcome);
    if (whole.explanation.empty()) whole.explanation = part.explanation;
    if (whole.took_over.empty()) whole.took_over = part.took_over;
    if (whole.precise_loop.empty()) whole.precise_loop = part.precise_loop;
    if (part.spectrum) whole.spectrum ? whole.spectrum->merge(*part.spectrum) : void(whole.spectrum = part.spectrum);
    if (part.multi_shift) whole.multi_shift->iterations += part.multi_shift->iterations;
    for (const auto& [phase, seconds] : part.seconds)
      if (phase != "read") whole.seconds[phase] += seconds;
    for (const auto bytes : {&SolveReport::memory_bytes, &SolveReport::predicted_memory_bytes})
      for (const auto& [object, size] : part.*bytes) (whole.*bytes)[object] = std::max((whole.*bytes)[object], size);
  }
  for (std::size_t i = 0; i < rhs.size(); ++i) whole.rhs[i / n * all + first + i % n] = std::move(rhs[i]);
}

}  // namespace

SolveReport solve_batch_after_batch(Session& session, const SolveRequest& request, int batch, const SourceList& sources,
                                    const std::function<void(std::size_t, const VectorField&)>& take,
                                    const std::function<void(const CgProgress&)>& progress) {
  const std::size_t all = sources.size(), n_masses = std::max<std::size_t>(request.masses.size(), 1);
  const std::size_t n_batches = (all + std::size_t(batch) - 1) / std::size_t(batch);
  SolveReport whole;
  double work = 0, used = 0;
  BatchSummary summary{0, false, 0, 1, 1};
  std::vector<VectorField> fields, solutions;
  for (std::size_t k = 0; k < n_batches; ++k) {
    const std::size_t first = k * all / n_batches, n = (k + 1) * all / n_batches - first;
    fields.clear();
    for (std::size_t i = 0; i < n; ++i) fields.push_back(sources.make(first + i));
    solutions.assign(n_masses * n, VectorField(session.lattice()));
    SolveReport part = session.solve(request, fields, solutions, progress);
    for (std::size_t i = 0; i < solutions.size(); ++i) take(i / n * all + first + i % n, solutions[i]);
    long longest = 0;
    for (const RhsReport& rhs : part.rhs) longest = std::max(longest, rhs.iterations);
    for (const RhsReport& rhs : part.rhs) used += double(rhs.iterations);
    summary.columns = std::max(summary.columns, int(n));
    summary.iterations += longest;
    work += part.site_iterations_per_second * part.seconds["solve"];
    merge(whole, std::move(part), first, n, all);
  }
  if (summary.iterations > 0)
    summary.filled = summary.filled_while_waiting =
        used / (double(n_masses) * double(summary.columns) * double(summary.iterations));
  whole.batch = summary;
  if (whole.seconds["solve"] > 0) whole.site_iterations_per_second = work / whole.seconds["solve"];
  return whole;
}

}  // namespace staghorn
