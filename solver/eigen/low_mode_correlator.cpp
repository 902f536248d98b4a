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

// v on the sites of the pairs, D v on the others, on the host; |v|^2 and |D v|^2; and what stands at the points.
struct Mode {
  VectorField field;
  double norms2[2] = {0, 0};  // of even and odd sites
  std::vector<ColorVector<double>> at_points{};
};

class Modes {
 public:
  Modes(const Communicator& communicator, const OperatorLinks& links, const Boundary& boundary, const Eigenpairs& pairs,
        const std::vector<Coordinates>& points)
      : communicator_(communicator), links_(links), boundary_(boundary), pairs_(pairs), points_(points) {
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
    mode.at_points.assign(points_.size(), {});
    const Lattice& lattice = links_.lattice();
    for (std::size_t p = 0; p < points_.size(); ++p)
      if (lattice.owns(points_[p])) mode.at_points[p] = mode.field[lattice.site_index(lattice.to_local(points_[p]))];
    // One rank has the site, and the others add zero: the order does not matter.
    communicator_.sum(std::span(reinterpret_cast<double*>(mode.at_points.data()), 6 * mode.at_points.size()));
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
  const Communicator& communicator_;
  const OperatorLinks& links_;
  const Boundary& boundary_;
  const Eigenpairs& pairs_;
  const std::vector<Coordinates>& points_;
  std::optional<VectorField> on_device_;  // where the links lie on a GPU
};

// Re a^* b
double real_product(const Complex<double>& a, const Complex<double>& b) { return a.re * b.re + a.im * b.im; }

}  // namespace

LowModeCorrelator::LowModeCorrelator(const Communicator& communicator, const OperatorLinks& links,
                                     const Boundary& boundary, const Eigenpairs& pairs, std::vector<double> masses,
                                     std::vector<Coordinates> points)
    : parity_(pairs.parity),
      extent_(std::size_t(links.lattice().global()[3])),
      volume_(double(links.lattice().global_volume())),
      values_(pairs.values),
      masses_(std::move(masses)),
      points_(std::move(points)),
      mean_(masses_.size(), std::vector<double>(extent_)),
      own_(masses_.size() * points_.size(), std::vector<double>(extent_)) {
  const Activity activity("low modes");
  const std::size_t count = pairs.count();
  std::vector<Mode> rows;
  std::optional<Mode> other;  // j beyond the rows
  communicator.agree([&] {
    rows.reserve(rows_together);
    for (std::size_t i = 0; i < std::min(count, rows_together); ++i) rows.push_back({VectorField(links.lattice())});
    if (count > rows_together) other.emplace(Mode{VectorField(links.lattice())});
  });
  Modes modes(communicator, links, boundary, pairs, points_);
  Products products{std::vector<Complex<double>>(extent_), std::vector<Complex<double>>(extent_),
                    std::vector<Complex<double>>(points_.size())};
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
          const int own = 2 * int(parity_);
          products.even[t] = {at[own], at[own + 1]};
          products.odd[t] = {at[2 - own], at[3 - own]};
        }
        for (std::size_t p = 0; p < points_.size(); ++p)
          products.points[p] = dot(up_to_b[i].at_points[p], b.at_points[p]);
        add(first + i, j, products);
      }
      made_progress();
    }
  }
}

// Adds F_ij, and F_ji where j is another vector, which has the same real part.
void LowModeCorrelator::add(std::size_t i, std::size_t j, const Products& products) {
  const auto& [even, odd, points] = products;
  const double lambda_i = values_[i], lambda_j = values_[j];
  const double inverse = lambda_i > 0 && lambda_j > 0 ? 1 / (lambda_i * lambda_j) : 0;
  const auto weight = [&](double mass) {
    return (i == j ? 1 : 2) / ((lambda_i + 4 * mass * mass) * (lambda_j + 4 * mass * mass));
  };
  for (std::size_t dt = 0; dt < extent_; ++dt) {
    double with_mass = 0, without = 0;  // Re F = 4m^2 with_mass + without
    for (std::size_t from = 0; from < extent_; ++from) {
      const std::size_t t = (from + dt) % extent_;
      with_mass += real_product(even[from], even[t]) + inverse * real_product(odd[from], odd[t]);
      without += real_product(even[from], odd[t]) + real_product(odd[from], even[t]);
    }
    for (std::size_t k = 0; k < masses_.size(); ++k)
      mean_[k][dt] += weight(masses_[k]) * (4 * masses_[k] * masses_[k] * with_mass + without) / volume_;
  }
  for (std::size_t k = 0; k < masses_.size(); ++k)
    for (std::size_t p = 0; p < points_.size(); ++p) {
      const bool on_even = Lattice::parity_of(points_[p]) == parity_;
      const double factor = 4 * masses_[k] * masses_[k] * (on_even ? 1 : inverse), w = weight(masses_[k]);
      const std::vector<Complex<double>>&same = on_even ? even : odd, &other = on_even ? odd : even;
      for (std::size_t t = 0; t < extent_; ++t)
        own_[k * points_.size() + p][t] +=
            w * (factor * real_product(points[p], same[t]) + real_product(points[p], other[t]));
    }
}

std::int64_t LowModeCorrelator::fields(std::int64_t pairs) { return std::min(pairs, std::int64_t(rows_together) + 1); }

std::size_t LowModeCorrelator::place_of(const Coordinates& point) const {
  const auto found = std::find(points_.begin(), points_.end(), point);
  if (found == points_.end()) throw Error("low modes", "a point that they were made for", "another");
  return std::size_t(found - points_.begin());
}

std::vector<double> LowModeCorrelator::part(std::size_t mass, const Coordinates& point) const {
  std::vector<double> result(extent_);
  for (std::size_t dt = 0; dt < extent_; ++dt) result[(std::size_t(point[3]) + dt) % extent_] = mean_[mass][dt];
  return result;
}

std::vector<double> LowModeCorrelator::improve(std::vector<double> correlator, std::size_t mass,
                                               const Coordinates& point) const {
  const std::vector<double> mean = part(mass, point), &own = own_[mass * points_.size() + place_of(point)];
  for (std::size_t t = 0; t < extent_; ++t) correlator[t] += mean[t] - own[t];
  return correlator;
}

}  // namespace staghorn
