#include "solver/observables/measurements.hpp"

namespace staghorn {

Measurements::Measurements(const Communicator& communicator, const MeasuredLinks& links, const SolveRequest& request,
                           const LowModes& low_modes, std::vector<SourceRequest> sources,
                           const std::vector<std::size_t>& n_vectors)
    : n_masses_(masses_of(request).size()), sources_(std::move(sources)) {
  for (std::size_t s = 0; s < sources_.size(); ++s)
    for (const ObservableEntry& entry : observable_table()) {
      const bool given = request.system == System::full && entry.is_given_by(sources_[s]);
      const MeasuredSource measured{communicator, links, request, low_modes, sources_[s], n_vectors[s]};
      measured_.push_back(given ? entry.measure(measured) : nullptr);
    }
}

void Measurements::take(std::size_t source, std::size_t mass, std::size_t k, const VectorField& solution,
                        const std::function<const VectorField&()>& make_source) {
  const std::size_t n_kinds = observable_table().size();
  for (std::size_t kind = 0; kind < n_kinds; ++kind)
    if (const auto& measurement = measured_[source * n_kinds + kind]) measurement->take(mass, k, solution, make_source);
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
