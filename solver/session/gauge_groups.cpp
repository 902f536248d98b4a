// Gauge::solve_in_groups: more right-hand sides than eigenvectors are taken out of at once.
#include <algorithm>
#include <iterator>
#include <utility>

#include "dirac/fields/vector_shape.hpp"
#include "halo/watch/error.hpp"
#include "solver/session/gauge.hpp"
#include "solver/session/groups/merged_report.hpp"

namespace staghorn {

std::size_t Gauge::most_at_once(const SolveRequest& request) const {
  if (!deflation(request)) return max_rhs;
  // With several masses a source of the full system takes two columns.
  const bool two_columns = !request.masses.empty() && request.system == System::full;
  return std::size_t(Deflation::most_rhs) / (two_columns ? 2 : 1);
}

SolveReport Gauge::solve_in_groups(const SolveRequest& request, std::span<const VectorField> sources,
                                   std::span<VectorField> solutions, const ShowProgress& progress,
                                   const SolveHabits& habits) {
  const SourceGroups groups(sources.size(), most_at_once(request));
  for (const auto& [name, is_set] : {std::pair{"checkpoint", request.checkpoint || habits.checkpoints},
                                     std::pair{"chronological", request.chronological > 0}})
    if (is_set)
      throw Error(name, "at most " + std::to_string(most_at_once(request)) + " right-hand sides with eigenvectors",
                  sources.size());
  const std::size_t n_masses = solutions.size() / sources.size();
  SolveReport whole;
  std::vector<RhsReport> rhs(solutions.size());
  double work = 0;
  for (std::size_t k = 0; k < groups.count; ++k) {
    std::vector<VectorField> of_group;
    for (std::size_t i = 0; i < n_masses * groups.size(k); ++i)
      of_group.push_back(std::move(solutions[groups.place(k, i)]));
    const std::span<const VectorField> b = sources.subspan(groups.begin(k), groups.size(k));
    SolveReport part = request.masses.empty() ? solve(request, b, of_group, progress, habits)
                                              : solve_masses(request, b, of_group, progress, habits);
    for (std::size_t i = 0; i < of_group.size(); ++i) {
      solutions[groups.place(k, i)] = std::move(of_group[i]);
      rhs[groups.place(k, i)] = std::move(part.rhs[i]);
    }
    work += part.site_iterations_per_second * part.seconds["solve"];
    merge(whole, std::move(part));
  }
  whole.batch = summary_of(groups, rhs);
  whole.rhs = std::move(rhs);
  if (whole.seconds["solve"] > 0) whole.site_iterations_per_second = work / whole.seconds["solve"];
  return whole;
}

}  // namespace staghorn
