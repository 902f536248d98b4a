// Two-point functions of baryons from sources of three colours, as MILC has them. Sums over the sites of a time slice
// whose x, y and z, counted from the source, are even; no factor [Golterman & Smit, Nucl. Phys. B 255 (1985) 328]:
//
//   nucleon   N(t) = sum_x det [G^(0)_0(x), G^(1)_1(x), G^(2)_2(x)]          row c: quark c with source colour c
//   Delta     D(t) = (-1)^t sum_x Re sum over permutations (a b c) of the colours 0 1 2, with their sign, of
//                    det [S_x G_a(x), S_y G_b(x), S_z G_c(x)],   S_i f(x) = f(x+i) + f(x-i), without links
//
// t is counted from the source. The sign of Delta turns the phases of CPS, in which the solutions are, into those of
// MILC, where it is a baryon of one sign.
#include <algorithm>
#include <optional>

#include "dirac/algebra/exact_sum.hpp"
#include "dirac/algebra/su3_matrix.hpp"
#include "dirac/fields/plain_algebra.hpp"
#include "dirac/operators/plain_operator.hpp"
#include "solver/observables/observable_table.hpp"
#include "solver/observables/spin_taste_operator.hpp"

namespace staghorn {

namespace {

using Vector = ColorVector<double>;
using Values = std::vector<std::array<double, 2>>;

constexpr std::size_t n_colors = 3;
constexpr int fields_of_delta = 9;  // S_i G_c

Complex<double> determinant_of(const Vector& a, const Vector& b, const Vector& c) {
  Complex<double> sum{};
  for (int i = 0; i < 3; ++i) {
    const int j = (i + 1) % 3, k = (i + 2) % 3;
    sum = multiply_add(a.c[i], b.c[j] * c.c[k] - b.c[k] * c.c[j], sum);
  }
  return sum;
}

// S_i f, with the boundary condition.
VectorField sum_of_neighbours(const Communicator& communicator, const Boundary& boundary, const VectorField& f, int i) {
  const Lattice& lattice = f.lattice();
  const NeighbourSites<Vector> ahead(communicator, f, i, +1), behind(communicator, f, i, -1);
  const Complex<double> phase = boundary_phase(boundary.theta[std::size_t(i)]);
  VectorField sum(lattice);
#pragma omp parallel for
  for (std::int64_t site = 0; site < f.size(); ++site) {
    const int x = lattice.to_global(lattice.site_coordinates(site))[i];
    for (int c = 0; c < 3; ++c) {
      Complex<double> forward = ahead[site].c[c], backward = behind[site].c[c];
      if (x == lattice.global()[i] - 1) forward = phase * forward;
      if (x == 0) backward = conjugate(phase) * backward;
      sum[site].c[c] = forward + backward;
    }
  }
  return sum;
}

class Baryons final : public Measurement {
 public:
  explicit Baryons(const MeasuredSource& source) : source_(source), kept_(source.n_masses() * n_colors) {}

  // Solutions are kept until those of all masses and colours are there.
  void take(const Solution& solution) override {
    kept_[solution.mass * n_colors + solution.k] = solution.kept(MemorySpace::host);
    if (std::any_of(kept_.begin(), kept_.end(), [](auto& kept) { return !kept; })) return;
    const std::size_t n = source_.n_masses();
    const auto asks_for = [&](Baryon baryon) { return std::ranges::count(source_.request.baryons, baryon) > 0; };
    if (asks_for(Baryon::nucleon))
      for (std::size_t i = 0; i < n * n * n; ++i) nucleons_.push_back(nucleon({i / (n * n), i / n % n, i % n}));
    if (asks_for(Baryon::delta))
      for (std::size_t mass = 0; mass < n; ++mass) deltas_.push_back(delta(mass));
    for (auto& kept : kept_) kept.reset();
  }

  void visit_parts(const VisitNumbers& part) override {
    const auto n_slices = std::size_t(source_.links.action.lattice().global()[3]);
    for (std::vector<Values>* const list : {&nucleons_, &deltas_}) {
      std::vector<double> numbers;
      for (const Values& values : *list)
        for (const std::array<double, 2>& value : values) numbers.insert(numbers.end(), value.begin(), value.end());
      part(numbers);
      list->assign(numbers.size() / (2 * n_slices), Values(n_slices));
      for (std::size_t i = 0; i < numbers.size(); ++i)
        (*list)[i / (2 * n_slices)][i / 2 % n_slices][i % 2] = numbers[i];
    }
  }

  void put_into(Observable& observable, std::size_t mass) const override {
    const std::size_t n = source_.n_masses();
    for (const Baryon baryon : source_.request.baryons) {
      if (baryon == Baryon::delta)
        observable.correlators.push_back({to_string(baryon), {mass, mass, mass}, {}, deltas_[mass]});
      for (std::size_t i = 0; baryon == Baryon::nucleon && i < n * n; ++i)
        observable.correlators.push_back({to_string(baryon), {mass, i / n, i % n}, {}, nucleons_[mass * n * n + i]});
    }
  }

 private:
  const VectorField& quark(std::size_t mass, std::size_t color) const { return *kept_[mass * n_colors + color]; }

  // The sum over the even sites of each time slice of what `at` says of a site.
  template <class AtSite>
  Values sums_of(const AtSite& at) const {
    const Lattice& lattice = quark(0, 0).lattice();
    const Coordinates origin = source_.source.origin();
    const auto volume = std::size_t(lattice.local_volume());
    std::array<std::vector<double>, 2> parts{std::vector<double>(volume), std::vector<double>(volume)};
    std::vector<std::int32_t> slices(volume);
#pragma omp parallel for
    for (std::int64_t site = 0; site < lattice.local_volume(); ++site) {
      const Coordinates x = lattice.to_global(lattice.site_coordinates(site));
      slices[std::size_t(site)] = x[3];
      if (parities_of(x, origin) & 7) continue;
      const Complex<double> value = at(site, x[3] - origin[3]);
      parts[0][std::size_t(site)] = value.re;
      parts[1][std::size_t(site)] = value.im;
    }
    const auto n_slices = std::size_t(lattice.global()[3]);
    Values values(n_slices);
    for (std::size_t part = 0; part < 2; ++part) {
      const std::vector<double> sums = exact_sums(source_.communicator, parts[part], slices, n_slices);
      for (std::size_t t = 0; t < n_slices; ++t) values[t][part] = sums[t];
    }
    return values;
  }

  Values nucleon(const std::array<std::size_t, 3>& masses) const {
    return sums_of([&](std::int64_t site, int) {
      return determinant_of(quark(masses[0], 0)[site], quark(masses[1], 1)[site], quark(masses[2], 2)[site]);
    });
  }

  Values delta(std::size_t mass) const {
    std::vector<VectorField> moved;  // [direction][colour]
    for (int i = 0; i < 3; ++i)
      for (std::size_t color = 0; color < n_colors; ++color)
        moved.push_back(sum_of_neighbours(source_.communicator, source_.links.boundary, quark(mass, color), i));
    constexpr int orders[6][4] = {{0, 1, 2, 1},  {1, 2, 0, 1},  {2, 0, 1, 1},
                                  {0, 2, 1, -1}, {2, 1, 0, -1}, {1, 0, 2, -1}};
    return sums_of([&](std::int64_t site, int t) {
      double sum = 0;
      for (const auto& [a, b, c, sign] : orders)
        sum += sign * determinant_of(moved[std::size_t(a)][site], moved[std::size_t(3 + b)][site],
                                     moved[std::size_t(6 + c)][site])
                          .re;
      return Complex<double>{t & 1 ? -sum : sum, 0};
    });
  }

  MeasuredSource source_;
  std::vector<std::shared_ptr<const VectorField>> kept_;  // [mass][colour], in the phases of CPS
  std::vector<Values> nucleons_, deltas_;                 // [mass][mass][mass], [mass]
};

}  // namespace

int n_baryon_fields(const SolveRequest& request) {
  if (request.baryons.empty()) return 0;
  return 3 * int(masses_of(request).size()) +
         (std::ranges::count(request.baryons, Baryon::delta) > 0 ? fields_of_delta : 0);
}

ObservableEntry baryons() {
  return {{"baryons", "", ObservableKind::correlators, "baryons", "B(t)", "baryon_source",
           "nucleon: sum over even x of det [G^0_0, G^1_1, G^2_2]; shape (configurations, baryons, T, 2)"},
          [](const SourceRequest& source) { return source.has_all_colors(); },
          [](const MeasuredSource& source) -> std::unique_ptr<Measurement> {
            if (source.request.baryons.empty()) return nullptr;
            return std::make_unique<Baryons>(source);
          }};
}

}  // namespace staghorn
