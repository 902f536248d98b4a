// Two-point functions of spin-taste operators, as MILC has them:
//
//   C(t) = sum_x w(x) sum_c [O G1_c(x,t)]^dagger G2_c(x,t),      M G_c = b_c,      no factor
//
// G1 is the antiquark, of the first mass and source, and G2 the quark. O is a spin-taste operator
// (spin_taste_operator.hpp), or a current with links stands in place of the product (link_currents.hpp). The sums of
// meson_sums.hpp over kinds of sites, with the signs of each operator, give all of them.
#include <algorithm>
#include <optional>

#include "halo/watch/error.hpp"
#include "solver/observables/meson_sums.hpp"
#include "solver/observables/spin_taste_operator.hpp"

namespace staghorn {

namespace {

// The sources of quarks that are paired with this one of the antiquark.
std::vector<std::size_t> partners_of(const MeasuredSource& source) {
  std::vector<std::size_t> partners;
  for (const SourcePair& pair : source.request.pairs)
    if (std::size_t(pair.antiquark) == source.number) partners.push_back(std::size_t(pair.quark));
  if (source.request.pairs.empty()) partners.push_back(source.number);
  return partners;
}

class Mesons final : public Measurement {
 public:
  Mesons(const MeasuredSource& source, std::vector<std::size_t> partners)
      : source_(source),
        partners_(std::move(partners)),
        terms_(MesonTerms::of(source.request.mesons, source.source.origin())) {
    for (const std::size_t partner : partners_)
      if (source.n_vectors_of[partner] != source.n_vectors)
        throw Error("pairs",
                    "sources of as many vectors, as " + to_string(source.source.spec) + " has " +
                        std::to_string(source.n_vectors),
                    to_string(source.sources[partner].spec) + " with " + std::to_string(source.n_vectors_of[partner]));
    kept_.resize(1 + partners_.size(), Kept(source.n_masses() * source.n_vectors));
    sums_.resize(source.n_vectors * source.n_masses());
  }

  void take(const Solution& solution) override {
    keep(0, solution);
    take_of_another(solution);
  }

  void take_of_another(const Solution& solution) override {
    for (std::size_t j = 0; j < partners_.size(); ++j)
      if (partners_[j] == solution.source) keep(1 + j, solution);
    contract_if_complete(solution.k);
  }

  void visit_parts(const VisitNumbers& part) override {
    const std::size_t n = partners_.size() * source_.n_masses() * terms_.size() * terms_.momenta.size();
    for (std::vector<KindSums>& sums : sums_) {
      sums.resize(n);
      for (KindSums& of_one : sums)
        for (std::vector<double>& numbers : of_one) part(numbers);
    }
  }

  void put_into(Observable& observable, std::size_t mass) const override {
    observable.measured_on_gpu = source_.links.mesons->chosen() == MemorySpace::cuda;
    for (std::size_t j = 0; j < partners_.size(); ++j)
      for (std::size_t quark = 0; quark < source_.n_masses(); ++quark)
        for (const MesonRequest& meson : source_.request.mesons)
          observable.correlators.push_back({meson.sink.name,
                                            {mass, quark},
                                            MesonOf{meson.momentum.p, symmetry_of(meson.momentum), partners_[j]},
                                            correlator(mass, j * source_.n_masses() + quark, meson)});
  }

 private:
  using Kept = std::vector<std::shared_ptr<const VectorField>>;  // [mass][colour], in the phases of CPS

  std::size_t place(std::size_t mass, std::size_t k) const { return mass * source_.n_vectors + k; }

  // Where fields are kept and contracted. Currents are measured on the host. Collective at the first call.
  MemorySpace space() const {
    if (!terms_.currents.empty()) return MemorySpace::host;
    // Solutions of a batch come mass by mass, and pairs of sources in any order.
    constexpr std::size_t most_vectors = 64;
    std::size_t vectors = 0;
    for (const std::size_t n : source_.n_vectors_of) vectors += n;
    const std::size_t kept = std::min(vectors, most_vectors) * source_.n_masses();
    return source_.links.mesons->choose(source_.communicator, source_.links.action.lattice(),
                                        int(kept) + n_meson_fields(source_.request), need_thin_links(source_.request));
  }

  void keep(std::size_t role, const Solution& solution) {
    kept_[role][place(solution.mass, solution.k)] = solution.kept(space());
  }

  // Solutions of a colour are kept until those of all masses and partners are there.
  void contract_if_complete(std::size_t k) {
    for (const Kept& kept : kept_)
      for (std::size_t m = 0; m < source_.n_masses(); ++m)
        if (!kept[place(m, k)]) return;
    std::vector<const VectorField*> quarks;
    for (std::size_t j = 0; j < partners_.size(); ++j)
      for (std::size_t m = 0; m < source_.n_masses(); ++m) quarks.push_back(kept_[1 + j][place(m, k)].get());
    MeasuredLinks links = source_.links;
    if (links.thin) links.thin = &links.mesons->thin(*links.thin);
    for (std::size_t m = 0; m < source_.n_masses(); ++m)
      sums_[place(m, k)] = meson_sums(source_.communicator, links, terms_, *kept_[0][place(m, k)], quarks);
    for (Kept& kept : kept_)
      for (std::size_t m = 0; m < source_.n_masses(); ++m) kept[place(m, k)].reset();
  }

  // Colours and kinds of sites in order.
  std::vector<std::array<double, 2>> correlator(std::size_t antiquark, std::size_t quark,
                                                const MesonRequest& meson) const {
    const std::size_t at =
        (quark * terms_.size() + terms_.term_of(meson)) * terms_.momenta.size() + terms_.momentum_of(meson);
    std::vector<std::array<double, 2>> values;
    for (std::size_t k = 0; k < source_.n_vectors; ++k) {
      const KindSums& of_color = sums_[place(antiquark, k)][at];
      values.resize(of_color[0].size() / n_kinds);
      for (std::size_t i = 0; i < of_color[0].size(); ++i) {
        const std::size_t t = i / n_kinds;
        const int parities = int(i % n_kinds) | ((int(t) - terms_.origin[3]) & 1) << 3;
        const double sign = meson.current ? 1 : sign_of(meson.sink) * sign_at(meson.sink.spin, parities);
        for (std::size_t part = 0; part < 2; ++part) values[t][part] += sign * of_color[part][i];
      }
    }
    return values;
  }

  MeasuredSource source_;
  std::vector<std::size_t> partners_;
  MesonTerms terms_;
  std::vector<Kept> kept_;                   // of the antiquark, then of the quarks of each partner
  std::vector<std::vector<KindSums>> sums_;  // [mass of the antiquark][colour], then as meson_sums has them
};

}  // namespace

int n_meson_fields(const SolveRequest& request) {
  if (request.mesons.empty()) return 0;
  std::vector<int> sets;
  for (const MesonRequest& meson : request.mesons) sets.push_back(meson.sink.shifts());
  std::vector<int> paired{0};
  for (const SourcePair& pair : request.pairs) paired.insert(paired.end(), {pair.antiquark, pair.quark});
  std::sort(paired.begin(), paired.end());
  const auto n_sources = int(std::unique(paired.begin(), paired.end()) - paired.begin());
  const int shifted = n_spin_taste_shifts(sets);
  const bool currents =
      std::any_of(request.mesons.begin(), request.mesons.end(), [](auto& meson) { return meson.current.has_value(); });
  return 3 * n_sources * int(masses_of(request).size()) + (shifted > 0 ? shifted + 2 : 0) + (currents ? 5 : 0);
}

ObservableEntry mesons() {
  return {{"mesons", "", ObservableKind::correlators, "mesons", "C(t)", "meson_source",
           "C(t) = sum_x w(x) sum_c [O G1_c(x,t)]^dagger G2_c(x,t), shape (configurations, mesons, T, 2)"},
          [](const SourceRequest& source) { return source.has_all_colors() || source.spec.kind == SourceKind::file; },
          [](const MeasuredSource& source) -> std::unique_ptr<Measurement> {
            std::vector<std::size_t> partners = partners_of(source);
            const bool own = source.request.pairs.empty();
            if (source.request.mesons.empty() || partners.empty() || (own && !source.source.has_all_colors()))
              return nullptr;
            return std::make_unique<Mesons>(source, std::move(partners));
          }};
}

}  // namespace staghorn
