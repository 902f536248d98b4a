#include "solver/report/propagator_observables.hpp"

#include <cmath>

#include "dirac/algebra/exact_sum.hpp"
#include "dirac/algebra/su3_matrix.hpp"
#include "dirac/fields/plain_algebra.hpp"
#include "halo/watch/error.hpp"

namespace staghorn {

void add_site_norms2(std::vector<double>& site_norms2, const VectorField& solution) {
  site_norms2.resize(std::size_t(solution.size()), 0.0);
#pragma omp parallel for
  for (std::int64_t site = 0; site < solution.size(); ++site) site_norms2[std::size_t(site)] += norm2(solution[site]);
}

std::vector<double> time_slice_sums(const Communicator& communicator, const Lattice& lattice,
                                    std::span<const double> sites) {
  const std::size_t slice_volume = sites.size() / std::size_t(lattice.local()[3]);  // t varies slowest
  std::vector<double> sums;
  for (int t = 0; t < lattice.global()[3]; ++t) {
    const int local_t = t - lattice.origin()[3];
    const bool mine = local_t >= 0 && local_t < lattice.local()[3];
    sums.push_back(exact_sum(communicator,
                             mine ? sites.subspan(std::size_t(local_t) * slice_volume, slice_volume) : sites.first(0)));
  }
  return sums;
}

std::vector<double> pion_correlator(const Communicator& communicator, std::span<const VectorField> solutions) {
  if (solutions.empty()) throw Error("pion correlator", "at least one solution", 0);
  std::vector<double> site_norms2;  // source colours in order
  for (const VectorField& solution : solutions) add_site_norms2(site_norms2, solution);
  return time_slice_sums(communicator, solutions[0].lattice(), site_norms2);
}

double trace_estimate(const Communicator& communicator, const VectorField& noise, const VectorField& solution) {
  return dot(communicator, noise, solution).re / double(noise.lattice().global_volume());
}

CondensateEstimate condensate_of(std::span<const double> values) {
  const double n = double(values.size());
  CondensateEstimate estimate;
  estimate.n_vectors = int(values.size());
  estimate.values.assign(values.begin(), values.end());
  for (const double value : values) estimate.value += value;
  estimate.value /= n;
  if (values.size() < 2) return estimate;
  double squares = 0;
  for (const double value : values) squares += (value - estimate.value) * (value - estimate.value);
  estimate.error = std::sqrt(squares / (n * (n - 1)));
  return estimate;
}

CondensateEstimate estimate_condensate(const Communicator& communicator, std::span<const VectorField> noise,
                                       std::span<const VectorField> solutions, std::span<const double> correction) {
  if (noise.empty() || noise.size() != solutions.size())
    throw Error("condensate", std::to_string(noise.size()) + " solutions, one per noise vector", solutions.size());
  std::vector<double> values;
  for (std::size_t i = 0; i < noise.size(); ++i)
    values.push_back(trace_estimate(communicator, noise[i], solutions[i]) + (correction.empty() ? 0 : correction[i]));
  return condensate_of(values);
}

}  // namespace staghorn
