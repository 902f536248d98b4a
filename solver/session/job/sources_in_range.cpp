#include "solver/session/job/sources_in_range.hpp"

#include <algorithm>

#include "solver/report/explanation.hpp"
#include "solver/request/solve_checks.hpp"
#include "solver/session/passes/scaled_sources.hpp"

namespace staghorn {

SourcesInRange::SourcesInRange(Gauge& gauge, const SolveRequest& request, std::span<const VectorField> sources,
                               std::span<VectorField> solutions, bool zero_source_is_a_result)
    : gauge_(gauge), request_(request), given_(sources), solutions_(solutions) {
  const Communicator& all = gauge.context().communicator();
  b2_ = source_norms2(all, request.system, sources, zero_source_is_a_result);
  if (std::none_of(b2_.begin(), b2_.end(), is_out_of_range)) return;
  const MemorySpace space = common_space(sources, solutions);
  all.agree([&] {
    scaled_.assign(sources.begin(), sources.end());
    residual_.emplace(sources[0].lattice(), space);
  });
  for (std::size_t i = 0; i < sources.size(); ++i)
    times_.push_back(bring_into_range(all, request.system, scaled_[i], b2_[i]));
  multiply_solutions(1);
}

SourcesInRange::~SourcesInRange() {
  try {
    multiply_solutions(-1);
  } catch (...) {  // of a GPU that failed, with all that it held
  }
}

void SourcesInRange::multiply_solutions(int sign) {
  for (std::size_t i = 0; i < solutions_.size() && !times_.empty(); ++i)
    multiply_times(request_.system, solutions_[i], sign * times_[i % times_.size()]);
}

void SourcesInRange::take_back(SolveReport& report) {
  if (times_.empty()) return;
  const Communicator& all = gauge_.context().communicator();
  std::optional<OperatorLinks> links;
  all.agree([&] { links.emplace(gauge_.bench().plain_links(residual_->space())); });
  const Judge judge{all, *links, gauge_.options().boundary, *residual_};
  const std::vector<int> times = std::move(times_);
  times_.clear();
  for (std::size_t i = 0; i < solutions_.size(); ++i) {
    const std::size_t mass = i / times.size(), source = i % times.size();
    SolveRequest of_mass = request_;
    double tolerance = report.tolerance;
    if (!request_.masses.empty()) of_mass.mass = request_.masses[mass];
    if (!request_.tolerances.empty() && request_.tolerances[mass] > 0) tolerance = request_.tolerances[mass];
    staghorn::take_back(judge, of_mass, tolerance, scaled_[source], times[source], solutions_[i], report.rhs[i]);
  }
  conclude(report);
}

}  // namespace staghorn
