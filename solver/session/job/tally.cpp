#include "solver/session/job/tally.hpp"

#include <algorithm>
#include <utility>

namespace staghorn {

namespace {

void merge(SolveReport& whole, SolveReport&& part) {
  if (whole.solver.empty()) {
    whole = std::move(part);
    return;
  }
  if (whole.explanation.empty()) whole.explanation = part.explanation;
  if (whole.took_over.empty()) whole.took_over = part.took_over;
  if (whole.precise_loop.empty()) whole.precise_loop = part.precise_loop;
  if (part.checkpoint) whole.checkpoint = part.checkpoint;
  if (part.spectrum) whole.spectrum ? whole.spectrum->merge(*part.spectrum) : void(whole.spectrum = part.spectrum);
  if (part.multi_shift) {
    whole.multi_shift->iterations += part.multi_shift->iterations;
    whole.multi_shift->sloppy_iterations += part.multi_shift->sloppy_iterations;
    whole.multi_shift->columns = std::max(whole.multi_shift->columns, part.multi_shift->columns);
    std::vector<MultiShiftSummary::Group>&groups = whole.multi_shift->groups, &more = part.multi_shift->groups;
    for (std::size_t k = 0; k < std::min(groups.size(), more.size()); ++k) {
      groups[k].iterations += more[k].iterations;
      groups[k].sloppy_iterations += more[k].sloppy_iterations;
      groups[k].columns = std::max(groups[k].columns, more[k].columns);
    }
  }
  if (part.deflation) {
    whole.deflation->projections += part.deflation->projections;
    whole.deflation->seconds += part.deflation->seconds;
  }
  if (part.coarse) {
    whole.coarse->solves += part.coarse->solves;
    whole.coarse->iterations += part.coarse->iterations;
    whole.coarse->operator_calls += part.coarse->operator_calls;
    whole.coarse->seconds += part.coarse->seconds;
  }
  for (const auto& [phase, seconds] : part.seconds)
    if (phase != "read") whole.seconds[phase] += seconds;
  for (const auto bytes : {&SolveReport::memory_bytes, &SolveReport::predicted_memory_bytes})
    for (const auto& [object, size] : part.*bytes) (whole.*bytes)[object] = std::max((whole.*bytes)[object], size);
}

}  // namespace

void Tally::add(SolveReport&& part) {
  work_ += part.site_iterations_per_second * part.seconds["solve"];
  merge(whole_, std::move(part));
}

SolveReport Tally::report(std::vector<RhsReport>&& rhs) {
  whole_.rhs = std::move(rhs);
  whole_.outcome = Outcome::certified;
  for (const RhsReport& one : whole_.rhs) whole_.outcome = std::max(whole_.outcome, one.outcome);
  if (whole_.seconds["solve"] > 0) whole_.site_iterations_per_second = work_ / whole_.seconds["solve"];
  return std::move(whole_);
}

BatchSummary summary_of(const SourceGroups& groups, const std::vector<RhsReport>& rhs) {
  BatchSummary summary{0, false, 0, 1, 1};
  const std::size_t n_masses = rhs.size() / groups.all;
  double used = 0;
  for (std::size_t k = 0; k < groups.count; ++k) {
    long longest = 0;
    for (std::size_t i = 0; i < n_masses * groups.size(k); ++i) {
      const long iterations = rhs[groups.place(k, i)].iterations;
      longest = std::max(longest, iterations);
      used += double(iterations);
    }
    summary.columns = std::max(summary.columns, int(groups.size(k)));
    summary.iterations += longest;
  }
  if (summary.iterations > 0)
    summary.filled = summary.filled_while_waiting =
        used / (double(n_masses) * double(summary.columns) * double(summary.iterations));
  return summary;
}

}  // namespace staghorn
