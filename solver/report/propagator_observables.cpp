#include "solver/report/propagator_observables.hpp"

#include <cmath>

#include "dirac/algebra/exact_sum.hpp"
#include "dirac/algebra/su3_matrix.hpp"
#include "dirac/fields/plain_algebra.hpp"
#include "halo/watch/error.hpp"

namespace staghorn {

std::vector<double> pion_correlator(const Communicator& communicator, std::span<const VectorField> solutions) {
  if (solutions.empty()) throw Error("pion correlator", "at least one solution", 0);
  const Lattice& lattice = solutions[0].lattice();
  // |x|^2 of each local site, source colours in order; t varies slowest, so a time slice is a range of sites.
  std::vector<double> site_norm2(std::size_t(lattice.local_volume()), 0.0);
#pragma omp parallel for
  for (std::int64_t site = 0; site < lattice.local_volume(); ++site)
    for (const VectorField& solution : solutions) site_norm2[site] += norm2(solution[site]);

  const std::span<const double> sites(site_norm2);
  const std::size_t slice_volume = site_norm2.size() / lattice.local()[3];
  std::vector<double> correlator;
  for (int t = 0; t < lattice.global()[3]; ++t) {
    const int local_t = t - lattice.origin()[3];
    const bool mine = local_t >= 0 && local_t < lattice.local()[3];
    correlator.push_back(
        exact_sum(communicator, mine ? sites.subspan(local_t * slice_volume, slice_volume) : sites.first(0)));
  }
  return correlator;
}

CondensateEstimate estimate_condensate(const Communicator& communicator, std::span<const VectorField> noise,
                                       std::span<const VectorField> solutions) {
  if (noise.empty() || noise.size() != solutions.size())
    throw Error("condensate", std::to_string(noise.size()) + " solutions, one per noise vector", solutions.size());
  const double volume = double(noise[0].lattice().global_volume()), n = double(noise.size());
  std::vector<double> values;
  CondensateEstimate estimate;
  estimate.n_vectors = int(noise.size());
  for (std::size_t i = 0; i < noise.size(); ++i) {
    values.push_back(dot(communicator, noise[i], solutions[i]).re / volume);
    estimate.value += values.back();
  }
  estimate.value /= n;
  if (noise.size() < 2) return estimate;
  double squares = 0;
  for (const double value : values) squares += (value - estimate.value) * (value - estimate.value);
  estimate.error = std::sqrt(squares / (n * (n - 1)));
  return estimate;
}

}  // namespace staghorn
