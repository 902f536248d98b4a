#include "solver/eigen/low_mode_correlator.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <utility>

#include "dirac/algebra/exact_sum.hpp"
#include "dirac/algebra/su3_matrix.hpp"
#include "dirac/fields/plain_algebra.hpp"
#include "dirac/operators/plain_operator.hpp"
#include "halo/watch/activity.hpp"
#include "halo/watch/error.hpp"

namespace staghorn {

namespace {

constexpr std::size_t rows_together = 32;  // vectors i whose fields are kept while j passes

// sum a^dagger b over the n sites of a row along x, of each parity: re, im of even sites, re, im of odd ones. `parity`
// is that of the first site.
STAGHORN_FMA_CLONES
void add_row(const ColorVector<double>* a, const ColorVector<double>* b, int n, int parity, const SumGrid (&grids)[2],
             ExactPartial* sums) {
  for (int x = 0; x < n; ++x) {
    const Complex<double> product = dot(a[x], b[x]);
    const int of = (parity + x) & 1;
    sums[2 * of].add(product.re, grids[of]);
    sums[2 * of + 1].add(product.im, grids[of]);
  }
}

// Sums over the sites of a source, with the signs of its phases: of v and of D v. a and b are their conjugates.
struct SourceSums {
  ColorVector<double> even, odd;
};

// v on the sites of the pairs, D v on the others, on the host; |v|^2 and |D v|^2; and the sums of each source.
struct Mode {
  VectorField field;
  double norms2[2] = {0, 0};  // of even and odd sites
  std::vector<SourceSums> sums{};
};

class Modes {
 public:
  Modes(const Communicator& communicator, const OperatorLinks& links, const Boundary& boundary, const Eigenpairs& pairs,
        PhaseConvention phases, const std::vector<SourceSpec>& sources)
      : communicator_(communicator),
        links_(links),
        boundary_(boundary),
        pairs_(pairs),
        phases_(phases),
        sources_(sources) {
    if (links.near.space() != MemorySpace::host)
      communicator.agree([&] { on_device_.emplace(links.lattice(), links.near.space()); });
  }

  // Collective.
  void make(std::size_t i, Mode& mode) {
    constexpr std::size_t per_block = Eigenpairs::vectors_per_block;
    VectorField& v = on_device_ ? *on_device_ : mode.field;
    pairs_.blocks[i / per_block].unpack(pairs_.parity, int(i % per_block), v);
    plain_hop(communicator_, links_, boundary_, v, v, opposite(pairs_.parity));
    if (on_device_) mode.field = v;
    const Norms2 found = norms2(communicator_, mode.field);
    mode.norms2[0] = found.even, mode.norms2[1] = found.odd;
    mode.sums = sums(mode);
  }

  // a_i^dagger b on each global time slice for each row i: re, im of even sites, re, im of odd ones, [i][t].
  // Collective.
  std::vector<double> products(std::span<const Mode> rows, const Mode& b) const {
    const Lattice& lattice = links_.lattice();
    const int extent = lattice.global()[3], local = lattice.local()[3], n = lattice.local()[0];
    const std::int64_t rows_of_slice = n_rows(lattice) / local;
    std::vector<SumGrid> grids;  // |a(x)^dagger b(x)| <= |a| |b|, with room for rounding
    for (const Mode& a : rows)
      for (int t = 0; t < extent; ++t)
        for (int of = 0; of < 2; ++of)
          grids.insert(grids.end(), 2, SumGrid::for_bound(2 * std::sqrt(a.norms2[of] * b.norms2[of])));
    std::vector<ExactPartial> partials(grids.size());
#pragma omp parallel for collapse(2) schedule(static)
    for (std::size_t i = 0; i < rows.size(); ++i)
      for (int t = 0; t < local; ++t) {
        const std::size_t place = 4 * (i * std::size_t(extent) + std::size_t(lattice.origin()[3] + t));
        const SumGrid of_pair[2] = {grids[place], grids[place + 2]};
        ExactPartial sums[4];
        for (std::int64_t row = t * rows_of_slice; row < (t + 1) * rows_of_slice; ++row)
          add_row(&rows[i].field[row * n], &b.field[row * n], n, int(Lattice::parity_of(row_begin(lattice, row))),
                  of_pair, sums);
        std::copy(sums, sums + 4, &partials[place]);
      }
    std::vector<double> values(grids.size());
    reduce(communicator_, partials, grids, values);
    return values;
  }

 private:
  // Of each source. Collective.
  std::vector<SourceSums> sums(const Mode& mode) const {
    const Lattice& lattice = links_.lattice();
    std::vector<SumGrid> grids;  // |v(x)| <= |v|, with room for rounding
    for (std::size_t source = 0; source < sources_.size(); ++source)
      for (const int of : {int(pairs_.parity), int(opposite(pairs_.parity))})
        grids.insert(grids.end(), reals, SumGrid::for_bound(2 * std::sqrt(mode.norms2[of])));
    std::vector<ExactPartial> partials(grids.size());
#pragma omp parallel for schedule(dynamic)
    for (std::size_t source = 0; source < sources_.size(); ++source)
      for (const std::int64_t site : sites_of(lattice, sources_[source])) {
        const Coordinates x = lattice.to_global(lattice.site_coordinates(site));
        const int sign = phases_ == PhaseConvention::milc ? milc_phase_sign(x) : 1;
        std::size_t place = 2 * reals * source + (Lattice::parity_of(x) == pairs_.parity ? 0 : reals);
        for (const Complex<double>& c : mode.field[site].c)
          for (const double real : {c.re, c.im}) {
            partials[place].add(sign * real, grids[place]);
            ++place;
          }
      }
    std::vector<double> values(grids.size());
    reduce(communicator_, partials, grids, values);
    std::vector<SourceSums> found(sources_.size());
    for (std::size_t source = 0; source < sources_.size(); ++source) {
      const double* value = &values[2 * reals * source];
      for (ColorVector<double>* sum : {&found[source].even, &found[source].odd})
        for (Complex<double>& c : sum->c) c = {value[0], value[1]}, value += 2;
    }
    return found;
  }

  static constexpr std::size_t reals = 6;  // of a colour vector

  const Communicator& communicator_;
  const OperatorLinks& links_;
  const Boundary& boundary_;
  const Eigenpairs& pairs_;
  PhaseConvention phases_;
  const std::vector<SourceSpec>& sources_;
  std::optional<VectorField> on_device_;  // where the links lie on a GPU
};

// Re a^* b
double real_product(const Complex<double>& a, const Complex<double>& b) { return a.re * b.re + a.im * b.im; }

SourceSpec wall_at(SourceKind kind, int t) {
  SourceSpec source;
  source.kind = kind;
  source.site[3] = t;
  return source;
}

}  // namespace

LowModeCorrelator::LowModeCorrelator(const Communicator& communicator, const OperatorLinks& links,
                                     const Boundary& boundary, const Eigenpairs& pairs, std::vector<double> masses,
                                     PhaseConvention phases, const std::vector<SourceSpec>& sources)
    : extent_(std::size_t(links.lattice().global()[3])), values_(pairs.values), masses_(std::move(masses)) {
  const Activity activity("low modes");
  for (const SourceSpec& source : sources)
    if (source.kind != SourceKind::point && translates_.emplace(source.kind, sources_.size()).second)
      for (std::size_t t = 0; t < extent_; ++t) sources_.push_back(wall_at(source.kind, int(t)));
  for (const SourceSpec& source : sources)
    if (source.kind == SourceKind::point) sources_.push_back(source);
  n_places_ = sources_.size();
  const bool any_point = !sources_.empty() && sources_.back().kind == SourceKind::point;
  if (any_point) {
    translates_.emplace(SourceKind::point, n_places_);
    n_places_ += extent_;
  }
  curves_.assign(masses_.size() * n_places_, std::vector<double>(extent_));

  const std::size_t count = pairs.count();
  std::vector<Mode> rows;
  std::optional<Mode> other;  // j beyond the rows
  communicator.agree([&] {
    rows.reserve(rows_together);
    for (std::size_t i = 0; i < std::min(count, rows_together); ++i) rows.push_back({VectorField(links.lattice())});
    if (count > rows_together) other.emplace(Mode{VectorField(links.lattice())});
  });
  Modes modes(communicator, links, boundary, pairs, phases, sources_);
  const double slice = double(links.lattice().global_volume()) / double(extent_);
  Products even(extent_), odd(extent_);
  std::vector<SourceProducts> of_sources(n_places_);
  for (std::size_t first = 0; first < count; first += rows_together) {
    const std::size_t last = std::min(count, first + rows_together);
    for (std::size_t i = first; i < last; ++i) modes.make(i, rows[i - first]);
    for (std::size_t j = first; j < count; ++j) {
      if (j >= last) modes.make(j, *other);
      const Mode& b = j < last ? rows[j - first] : *other;
      const std::span<const Mode> up_to_b = std::span<const Mode>(rows).first(std::min(j + 1, last) - first);
      const std::vector<double> sums = modes.products(up_to_b, b);
      for (std::size_t i = 0; i < up_to_b.size(); ++i) {
        for (std::size_t t = 0; t < extent_; ++t) {
          const double* const at = &sums[4 * (i * extent_ + t)];
          const int own = 2 * int(pairs.parity);
          even[t] = {at[own], at[own + 1]};
          odd[t] = {at[2 - own], at[3 - own]};
        }
        for (std::size_t source = 0; source < sources_.size(); ++source) {
          const SourceSums &of_i = up_to_b[i].sums[source], &of_j = b.sums[source];
          of_sources[source] = {dot(of_i.even, of_j.even), dot(of_i.odd, of_j.odd), dot(of_i.even, of_j.odd),
                                dot(of_i.odd, of_j.even)};
        }
        if (any_point)
          for (std::size_t t = 0; t < extent_; ++t)
            of_sources[sources_.size() + t] = {1 / slice * even[t], 1 / slice * odd[t], {}, {}};
        add(first + i, j, even, odd, of_sources);
      }
      made_progress();
    }
  }
}

// Adds the terms ij and, where j is another vector, ji, which has the same real part.
void LowModeCorrelator::add(std::size_t i, std::size_t j, const Products& even, const Products& odd,
                            const std::vector<SourceProducts>& sources) {
  const double lambda_i = values_[i], lambda_j = values_[j];
  const double inverse_i = lambda_i > 0 ? 1 / lambda_i : 0, inverse_j = lambda_j > 0 ? 1 / lambda_j : 0;
  for (std::size_t k = 0; k < masses_.size(); ++k) {
    const double m2 = 2 * masses_[k], weight = (i == j ? 1 : 2) / ((lambda_i + m2 * m2) * (lambda_j + m2 * m2));
    for (std::size_t source = 0; source < n_places_; ++source) {
      const auto& [a, b, x_ij, x_ji] = sources[source];
      // P_ij^* and Q_ij^*
      const Complex<double> p = weight * (m2 * m2 * a + b + m2 * (x_ij + x_ji));
      const Complex<double> q =
          weight * (a + m2 * m2 * inverse_i * inverse_j * b - m2 * (inverse_j * x_ij + inverse_i * x_ji));
      std::vector<double>& c = curve(k, source);
      for (std::size_t t = 0; t < extent_; ++t) c[t] += real_product(p, even[t]) + real_product(q, odd[t]);
    }
  }
}

std::int64_t LowModeCorrelator::fields(std::int64_t pairs) { return std::min(pairs, std::int64_t(rows_together) + 1); }

std::size_t LowModeCorrelator::place_of(const SourceSpec& source) const {
  const SourceSpec place = source.kind == SourceKind::point ? source : wall_at(source.kind, source.site[3]);
  const auto found = std::find(sources_.begin(), sources_.end(), place);
  if (found == sources_.end()) throw Error("low modes", "a source that they were made for", to_string(source));
  return std::size_t(found - sources_.begin());
}

std::vector<double> LowModeCorrelator::part(std::size_t mass, const SourceSpec& source) const {
  place_of(source);
  const std::size_t first = translates_.at(source.kind), from = std::size_t(source.site[3]);
  std::vector<double> result(extent_);
  for (std::size_t t0 = 0; t0 < extent_; ++t0)
    for (std::size_t dt = 0; dt < extent_; ++dt)
      result[(from + dt) % extent_] += curve(mass, first + t0)[(t0 + dt) % extent_] / double(extent_);
  return result;
}

std::vector<double> LowModeCorrelator::improve(std::vector<double> correlator, std::size_t mass,
                                               const SourceSpec& source) const {
  const std::vector<double> mean = part(mass, source), &own = curve(mass, place_of(source));
  for (std::size_t t = 0; t < extent_; ++t) correlator[t] += mean[t] - own[t];
  return correlator;
}

}  // namespace staghorn
