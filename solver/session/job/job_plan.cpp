#include "solver/session/job/job_plan.hpp"

#include <utility>

#include "dirac/fields/vector_shape.hpp"
#include "solver/eigen/deflation.hpp"

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

}  // namespace

JobPlan plan_job(const SolveRequest& request, std::size_t n_sources, std::size_t most_at_once, double own) {
  JobPlan plan{SourceGroups(n_sources, most_at_once), {}};
  const bool by_epsilon = !request.naik_epsilons.empty();
  std::vector<EpsilonGroup> epsilons = epsilon_groups(request, own);
  if (epsilons.empty()) epsilons.push_back({own, {0}});  // the mass
  for (const EpsilonGroup& epsilon : epsilons)
    for (std::size_t k = 0; k < plan.groups.count; ++k) {
      Batch batch{
          by_epsilon ? request_of(request, epsilon) : request, {}, {}, plan.groups.begin(k), plan.groups.size(k)};
      if (by_epsilon) batch.epsilon = epsilon.epsilon;
      for (const std::size_t mass : epsilon.masses)
        for (std::size_t i = 0; i < batch.n_sources; ++i)
          batch.places.push_back(mass * n_sources + batch.first_source + i);
      plan.batches.push_back(std::move(batch));
    }
  return plan;
}

std::size_t most_at_once(const SolveRequest& request, bool deflates) {
  if (!deflates) return max_rhs;
  // With several masses a source of the full system takes two columns.
  const bool two_columns = !request.masses.empty() && request.system == System::full;
  return std::size_t(Deflation::most_rhs) / (two_columns ? 2 : 1);
}

}  // namespace staghorn
