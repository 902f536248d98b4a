// The stochastic estimate of Tr M^-1 / V, colours summed: the mean over noise vectors eta of Re <eta, M^-1 eta> / V.
// The imaginary part vanishes on average, since the spectrum of D is imaginary and symmetric.
#include "dirac/fields/plain_algebra.hpp"
#include "dirac/operators/plain_operator.hpp"
#include "solver/observables/observable_table.hpp"

namespace staghorn {

namespace {

class ChiralCondensate final : public Measurement {
 public:
  explicit ChiralCondensate(const MeasuredSource& source)
      : source_(source), traces_(source.n_masses() * source.n_vectors), seen_(source.n_vectors) {}

  void take(const Solution& solution) override {
    const VectorField& noise = solution.make_source();
    const std::size_t mass = solution.mass, k = solution.k;
    double trace = dot(source_.communicator, noise, solution.field).re / double(noise.lattice().global_volume());
    if (const auto& low_modes = source_.low_modes.trace) {
      if (seen_[k].empty()) seen_[k] = seen(*low_modes, noise);
      trace += low_modes->correction(masses_of(source_.request)[mass], seen_[k]);
    }
    traces_[mass * source_.n_vectors + k] = {trace};
  }

  void visit_parts(const VisitNumbers& part) override {
    for (std::vector<double>& trace : traces_) part(trace);
  }

  void put_into(Observable& observable, std::size_t mass) const override {
    const auto of_mass = std::span(traces_).subspan(mass * source_.n_vectors, source_.n_vectors);
    for (const std::vector<double>& trace : of_mass)
      observable.values.insert(observable.values.end(), trace.begin(), trace.end());
    const auto& low_modes = source_.low_modes.trace;
    if (!low_modes) return;
    const double m = masses_of(source_.request)[mass];
    observable.low_part = {low_modes->part(m, low_modes->norms2())};
    observable.low_part_error = low_modes->error(m);
  }

 private:
  // What low modes see of noise in the phases of the request.
  std::vector<double> seen(const LowModeTrace& low_modes, VectorField noise) const {
    change_phases(source_.request.phases, noise);
    return low_modes.seen(noise);
  }

  MeasuredSource source_;
  std::vector<std::vector<double>> traces_;  // [mass][noise vector]: one number
  std::vector<std::vector<double>> seen_;    // of each noise vector
};

}  // namespace

ObservableEntry chiral_condensate() {
  return {{"condensate", "", ObservableKind::mean, "chiral condensate", "Tr M^-1 / V", "noise_source",
           "Re <eta, M^-1 eta> / V of each noise vector, shape (configurations, masses, sources, vectors); their mean "
           "estimates Tr M^-1 / V, colours summed"},
          [](const SourceRequest& source) { return source.spec.is_noise() && source.spec.is_plain(); },
          [](const MeasuredSource& source) -> std::unique_ptr<Measurement> {
            return std::make_unique<ChiralCondensate>(source);
          }};
}

}  // namespace staghorn
