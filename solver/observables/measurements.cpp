#include "solver/observables/measurements.hpp"

namespace staghorn {

Measurements::Measurements(const Communicator& communicator, const MeasuredLinks& links, const SolveRequest& request,
                           const LowModes& low_modes, std::vector<SourceRequest> sources,
                           std::vector<std::size_t> n_vectors)
    : n_masses_(masses_of(request).size()),
      phases_(request.phases),
      sources_(std::move(sources)),
      n_vectors_(std::move(n_vectors)) {
  for (std::size_t s = 0; s < sources_.size(); ++s)
    for (const ObservableEntry& entry : observable_table()) {
      const bool given = request.system == System::full && entry.is_given_by(sources_[s]);
      const MeasuredSource measured{communicator,  links, request,  low_modes, sources_[s],
                                    n_vectors_[s], s,     sources_, n_vectors_};
      measured_.push_back(given ? entry.measure(measured) : nullptr);
    }
}

void Measurements::take(std::size_t source, std::size_t mass, std::size_t k, const VectorField& solution,
                        const std::function<const VectorField&()>& make_source) {
  const Solution taken(source, mass, k, solution, phases_, make_source);
  const std::size_t n_kinds = observable_table().size();
  for (std::size_t i = 0; i < measured_.size(); ++i) {
    if (!measured_[i]) continue;
    if (i / n_kinds == source)
      measured_[i]->take(taken);
    else
      measured_[i]->take_of_another(taken);
  }
}

const std::shared_ptr<const VectorField>& Solution::kept(MemorySpace space) const {
  if (kept_ && kept_->space() == space) return kept_;
  VectorField copy(field, space);
  change_phases(phases_, copy);
  return kept_ = std::make_shared<const VectorField>(std::move(copy));
}

void Measurements::complete(const VisitNumbers& part) {
  for (const auto& measurement : measured_) {
    if (!measurement) continue;
    measurement->visit_parts(part);
    measurement->complete();
  }
}

std::vector<Observable> Measurements::results() const {
  const auto table = observable_table();
  std::vector<Observable> results;
  for (std::size_t mass = 0; mass < n_masses_; ++mass)
    for (std::size_t source = 0; source < sources_.size(); ++source)
      for (std::size_t kind = 0; kind < table.size(); ++kind) {
        results.push_back({&table[kind].kind, mass, source});
        if (const auto& measurement = measured_[source * table.size() + kind])
          measurement->put_into(results.back(), mass);
      }
  return results;
}

}  // namespace staghorn
