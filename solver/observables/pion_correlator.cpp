// C(t) = sum_x |G(x,t)|^2, summed over the colours of source and sink: the correlator of the Goldstone pion. One number
// for each global time slice t = 0 .. T-1, not shifted by the source's t. Sums over sites are exact: the same bits on
// every process grid.
#include "dirac/algebra/exact_sum.hpp"
#include "dirac/algebra/su3_matrix.hpp"
#include "solver/observables/observable_table.hpp"

namespace staghorn {

namespace {

std::vector<double> site_norms2(const VectorField& solution) {
  std::vector<double> norms2(std::size_t(solution.size()));
#pragma omp parallel for
  for (std::int64_t site = 0; site < solution.size(); ++site) norms2[std::size_t(site)] = norm2(solution[site]);
  return norms2;
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

class PionCorrelator final : public Measurement {
 public:
  explicit PionCorrelator(const MeasuredSource& source)
      : source_(source), norms2_(source.n_masses() * source.n_vectors), correlators_(source.n_masses()) {}

  // |x|^2 of each site is kept until all colours of a mass are there.
  void take(const Solution& solution) override {
    norms2_[solution.mass * source_.n_vectors + solution.k] = site_norms2(solution.field);
    sum_colors(solution.mass);
  }

  void visit_parts(const VisitNumbers& part) override {
    for (std::vector<double>& color : norms2_) part(color);
    for (std::vector<double>& correlator : correlators_) part(correlator);
  }

  void complete() override {
    for (std::size_t mass = 0; mass < correlators_.size(); ++mass)
      if (correlators_[mass].empty()) sum_colors(mass);
  }

  void put_into(Observable& observable, std::size_t mass) const override {
    observable.values = correlators_[mass];
    if (const auto& low_modes = source_.low_modes.correlator; low_modes && source_.source.has_low_part())
      observable.low_part = low_modes->part(mass, source_.source.spec);
  }

 private:
  // The correlator of a mass, if all its colours are there.
  void sum_colors(std::size_t mass) {
    const std::span<std::vector<double>> colors =
        std::span(norms2_).subspan(mass * source_.n_vectors, source_.n_vectors);
    for (const std::vector<double>& color : colors)
      if (color.empty()) return;
    std::vector<double> sum = std::move(colors[0]);  // colours in order
    for (std::size_t color = 1; color < colors.size(); ++color)
      for (std::size_t site = 0; site < sum.size(); ++site) sum[site] += colors[color][site];
    for (std::vector<double>& color : colors) color = {};
    std::vector<double>& correlator = correlators_[mass];
    correlator = time_slice_sums(source_.communicator, source_.links.action.lattice(), sum);
    if (const auto& low_modes = source_.low_modes.correlator; low_modes && source_.source.has_low_part())
      correlator = low_modes->improve(std::move(correlator), mass, source_.source.spec);
  }

  MeasuredSource source_;
  std::vector<std::vector<double>> norms2_;       // [mass][colour][site]
  std::vector<std::vector<double>> correlators_;  // [mass][t]
};

}  // namespace

ObservableEntry pion_correlator() {
  return {{"pion_correlator", "pion_low_part", ObservableKind::curve, "pion correlator", "C(t)", "pion_source",
           "C(t) = sum_x |G(x,t)|^2, shape (configurations, masses, sources, T)"},
          [](const SourceRequest& source) { return source.has_all_colors(); },
          [](const MeasuredSource& source) -> std::unique_ptr<Measurement> {
            return std::make_unique<PionCorrelator>(source);
          }};
}

}  // namespace staghorn
