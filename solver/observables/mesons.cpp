// Two-point functions of spin-taste operators, as MILC has them:
//
//   C(t) = sum_x w(x) sum_c [O G1_c(x,t)]^dagger G2_c(x,t),      M G_c = b_c,      no factor
//
// G1 is the antiquark, of the first mass, and G2 the quark. For spin S and taste T, sets of directions, A = S xor T and
// x counted from the source, with Z_A of spin_taste_shifts.hpp,
//
//   O f = sign eps Z_A prod_(mu in S) zeta_mu f = sign' eps (prod_(mu in S) zeta_mu) Z_A f:
//
// a shift along d changes the sign of each zeta_mu except that of mu = d, so sign' = sign (-1)^(|A||S| + |A and S|).
// What is left of S is a sign at each site that depends on the parities of its coordinates. So the sums over the eight
// kinds of sites of a time slice give all sixteen operators of a set A.
#include <algorithm>
#include <bit>

#include "dirac/algebra/elementary.hpp"
#include "dirac/algebra/exact_sum.hpp"
#include "dirac/algebra/su3_matrix.hpp"
#include "dirac/fields/plain_algebra.hpp"
#include "solver/observables/spin_taste_shifts.hpp"

namespace staghorn {

namespace {

using Numbers = std::vector<Complex<double>>;

constexpr std::size_t n_kinds = 8;  // of sites of a time slice, by the parities of x, y, z

// sign' of an operator
int sign_of(const SpinTaste& sink) {
  const int shifts = std::popcount(unsigned(sink.shifts())), spins = std::popcount(unsigned(sink.spin)),
            both = std::popcount(unsigned(sink.shifts() & sink.spin));
  return (shifts * spins + both) % 2 ? -sink.sign : sink.sign;
}

// eps prod_(mu in S) zeta_mu where the coordinates have these parities: bits 1, 2, 4, 8
int sign_at(int spin, int parities) {
  const int eps = std::popcount(unsigned(parities)), zetas = std::popcount(unsigned(spin));
  return (eps * (1 + zetas) + std::popcount(unsigned(spin & parities))) % 2 ? -1 : 1;
}

Complex<double> momentum_factor(MomentumPhase phase, int p, int x, int n) {
  const Complex<double> e = root_of_unity(std::int64_t{p} * x, n);
  return phase == MomentumPhase::cosine ? Complex<double>{e.re, 0}
         : phase == MomentumPhase::sine ? Complex<double>{0, e.im}
                                        : e;
}

// values[site] = a(x)^dagger b(x)
STAGHORN_FMA_CLONES
void multiply_sites(const VectorField& a, const VectorField& b, std::int64_t begin, std::int64_t end, Numbers& values) {
  for (std::int64_t site = begin; site < end; ++site) values[std::size_t(site)] = dot(a[site], b[site]);
}

// Splits w(x) times the values into real and imaginary parts.
STAGHORN_FMA_CLONES
void weigh_row(const Coordinates& begin, std::int64_t first, int length, const std::array<Numbers, 3>& factors,
               const Numbers& values, std::array<std::vector<double>, 2>& parts) {
  const Complex<double> of_row = factors[1][std::size_t(begin[1])] * factors[2][std::size_t(begin[2])];
  for (int i = 0; i < length; ++i) {
    const auto site = std::size_t(first + i);
    const Complex<double> value = (factors[0][std::size_t(begin[0] + i)] * of_row) * values[site];
    parts[0][site] = value.re;
    parts[1][site] = value.im;
  }
}

class Mesons final : public Measurement {
 public:
  explicit Mesons(const MeasuredSource& source)
      : source_(source), solutions_(source.n_masses() * source.n_vectors), origin_(source.source.spec.site) {
    if (source.source.spec.kind != SourceKind::point) origin_ = {0, 0, 0, origin_[3]};
    for (const MesonRequest& meson : source.request.mesons) {
      if (std::find(sets_.begin(), sets_.end(), meson.sink.shifts()) == sets_.end())
        sets_.push_back(meson.sink.shifts());
      if (std::find(momenta_.begin(), momenta_.end(), meson.momentum) == momenta_.end())
        momenta_.push_back(meson.momentum);
    }
    sums_.resize(source.n_vectors * source.n_masses() * source.n_masses() * sets_.size() * momenta_.size());
  }

  // Solutions of a colour are kept until those of all masses are there.
  void take(std::size_t mass, std::size_t k, const VectorField& solution,
            const std::function<const VectorField&()>&) override {
    VectorField kept = solution;
    change_phases(source_.request.phases, kept);
    solutions_[mass * source_.n_vectors + k].emplace(std::move(kept));
    for (std::size_t m = 0; m < source_.n_masses(); ++m)
      if (!solutions_[m * source_.n_vectors + k]) return;
    for (std::size_t m = 0; m < source_.n_masses(); ++m) contract(m, k);
    for (std::size_t m = 0; m < source_.n_masses(); ++m) solutions_[m * source_.n_vectors + k].reset();
  }

  void put_into(Observable& observable, std::size_t mass) const override {
    for (std::size_t quark = 0; quark < source_.n_masses(); ++quark)
      for (const MesonRequest& meson : source_.request.mesons)
        observable.correlators.push_back(
            {meson.sink.name, meson.momentum.p, symmetry_of(meson.momentum), quark, correlator(mass, quark, meson)});
  }

 private:
  // In sums_.
  std::size_t place(std::size_t k, std::size_t antiquark, std::size_t quark, std::size_t set,
                    std::size_t momentum) const {
    const std::size_t n = source_.n_masses();
    return (((k * n + antiquark) * n + quark) * sets_.size() + set) * momenta_.size() + momentum;
  }

  void contract(std::size_t antiquark, std::size_t k) {
    const VectorField& first = *solutions_[antiquark * source_.n_vectors + k];
    const Lattice& lattice = first.lattice();
    const std::map<int, VectorField> shifted =
        spin_taste_shifts(source_.communicator, source_.links, origin_, first, sets_);
    const std::vector<std::int32_t> kinds = kinds_of_sites(lattice);
    Numbers values(std::size_t(first.size()));
    for (std::size_t quark = 0; quark < source_.n_masses(); ++quark)
      for (std::size_t set = 0; set < sets_.size(); ++set) {
        const VectorField& operated = sets_[set] ? shifted.at(sets_[set]) : first;
        const VectorField& second = *solutions_[quark * source_.n_vectors + k];
        const std::int64_t row = lattice.local()[0];
#pragma omp parallel for
        for (std::int64_t r = 0; r < n_rows(lattice); ++r)
          multiply_sites(operated, second, r * row, (r + 1) * row, values);
        for (std::size_t p = 0; p < momenta_.size(); ++p)
          sums_[place(k, antiquark, quark, set, p)] = sums_of(lattice, momenta_[p], values, kinds);
      }
  }

  // Real and imaginary part of the sum of each time slice and kind of sites.
  std::array<std::vector<double>, 2> sums_of(const Lattice& lattice, const SinkMomentum& momentum,
                                             const Numbers& values, const std::vector<std::int32_t>& kinds) const {
    std::array<Numbers, 3> factors;
    for (std::size_t i = 0; i < 3; ++i)
      for (int x = 0; x < lattice.local()[i]; ++x)
        factors[i].push_back(momentum_factor(momentum.phase[i], momentum.p[i], lattice.origin()[i] + x - origin_[i],
                                             lattice.global()[i]));
    std::array<std::vector<double>, 2> parts{std::vector<double>(values.size()), std::vector<double>(values.size())};
    const int row = lattice.local()[0];
#pragma omp parallel for
    for (std::int64_t r = 0; r < n_rows(lattice); ++r)
      weigh_row(row_begin(lattice, r), r * row, row, factors, values, parts);
    const std::size_t n_groups = std::size_t(lattice.global()[3]) * n_kinds;
    return {exact_sums(source_.communicator, parts[0], kinds, n_groups),
            exact_sums(source_.communicator, parts[1], kinds, n_groups)};
  }

  // Time slice and kind of each site.
  std::vector<std::int32_t> kinds_of_sites(const Lattice& lattice) const {
    std::vector<std::int32_t> kinds(std::size_t(lattice.local_volume()));
#pragma omp parallel for
    for (std::int64_t site = 0; site < lattice.local_volume(); ++site) {
      const Coordinates x = lattice.to_global(lattice.site_coordinates(site));
      int kind = 0;
      for (int i = 0; i < 3; ++i) kind |= ((x[i] - origin_[i]) & 1) << i;
      kinds[std::size_t(site)] = x[3] * int(n_kinds) + kind;
    }
    return kinds;
  }

  // Colours and kinds of sites in order.
  std::vector<std::array<double, 2>> correlator(std::size_t antiquark, std::size_t quark,
                                                const MesonRequest& meson) const {
    const auto set = std::size_t(std::find(sets_.begin(), sets_.end(), meson.sink.shifts()) - sets_.begin());
    const auto p = std::size_t(std::find(momenta_.begin(), momenta_.end(), meson.momentum) - momenta_.begin());
    std::vector<std::array<double, 2>> values;
    for (std::size_t k = 0; k < source_.n_vectors; ++k) {
      const std::array<std::vector<double>, 2>& of_color = sums_[place(k, antiquark, quark, set, p)];
      values.resize(of_color[0].size() / n_kinds);
      for (std::size_t i = 0; i < of_color[0].size(); ++i) {
        const std::size_t t = i / n_kinds;
        const int parities = int(i % n_kinds) | ((int(t) - origin_[3]) & 1) << 3;
        const double sign = sign_of(meson.sink) * sign_at(meson.sink.spin, parities);
        for (std::size_t part = 0; part < 2; ++part) values[t][part] += sign * of_color[part][i];
      }
    }
    return values;
  }

  MeasuredSource source_;
  std::vector<std::optional<VectorField>> solutions_;  // [mass][colour], in the phases of CPS
  Coordinates origin_;                                 // of signs and momenta: the place of the source
  std::vector<int> sets_;                              // of directions along which the operators shift
  std::vector<SinkMomentum> momenta_;
  // [colour][antiquark][quark][set][momentum]: real and imaginary part of the sum of each time slice and kind of sites
  std::vector<std::array<std::vector<double>, 2>> sums_;
};

}  // namespace

int n_meson_fields(const SolveRequest& request) {
  if (request.mesons.empty()) return 0;
  std::vector<int> sets;
  for (const MesonRequest& meson : request.mesons) sets.push_back(meson.sink.shifts());
  const int shifted = n_spin_taste_shifts(sets);
  return 3 * int(masses_of(request).size()) + (shifted > 0 ? shifted + 2 : 0);
}

ObservableEntry mesons() {
  return {{"mesons", "", ObservableKind::correlators, "mesons", "C(t)", "meson_source",
           "C(t) = sum_x w(x) sum_c [O G1_c(x,t)]^dagger G2_c(x,t), shape (configurations, mesons, T, 2)"},
          [](const SourceRequest& source) { return source.has_all_colors(); },
          [](const MeasuredSource& source) -> std::unique_ptr<Measurement> {
            if (source.request.mesons.empty()) return nullptr;
            return std::make_unique<Mesons>(source);
          }};
}

}  // namespace staghorn
