#include "solver/observables/meson_sums.hpp"

#include <algorithm>

#include "dirac/algebra/exact_sum.hpp"
#include "dirac/algebra/su3_matrix.hpp"
#include "dirac/fields/plain_algebra.hpp"
#include "halo/watch/error.hpp"
#include "solver/observables/cuda_meson_sums.hpp"
#include "solver/observables/link_currents.hpp"
#include "solver/observables/spin_taste_operator.hpp"

namespace staghorn {

namespace {

using Numbers = std::vector<Complex<double>>;

template <class Value>
void add_once(std::vector<Value>& list, const Value& value) {
  if (std::find(list.begin(), list.end(), value) == list.end()) list.push_back(value);
}

template <class Value>
std::size_t place_in(const std::vector<Value>& list, const Value& value) {
  return std::size_t(std::find(list.begin(), list.end(), value) - list.begin());
}

// values[site] = a(x)^dagger b(x)
STAGHORN_FMA_CLONES
void multiply_sites(const VectorField& a, const VectorField& b, std::int64_t begin, std::int64_t end, Numbers& values) {
  for (std::int64_t site = begin; site < end; ++site) values[std::size_t(site)] = dot(a[site], b[site]);
}

// Splits w(x) times the values into real and imaginary parts.
STAGHORN_FMA_CLONES
void weigh_row(const Coordinates& begin, std::int64_t first, int length, const std::array<Numbers, 3>& factors,
               const Numbers& values, KindSums& parts) {
  const Complex<double> of_row = factors[1][std::size_t(begin[1])] * factors[2][std::size_t(begin[2])];
  for (int i = 0; i < length; ++i) {
    const auto site = std::size_t(first + i);
    const Complex<double> value = (factors[0][std::size_t(begin[0] + i)] * of_row) * values[site];
    parts[0][site] = value.re;
    parts[1][site] = value.im;
  }
}

// Time slice and kind of each site.
std::vector<std::int32_t> kinds_of_sites(const Lattice& lattice, const Coordinates& origin) {
  std::vector<std::int32_t> kinds(std::size_t(lattice.local_volume()));
#pragma omp parallel for
  for (std::int64_t site = 0; site < lattice.local_volume(); ++site) {
    const Coordinates x = lattice.to_global(lattice.site_coordinates(site));
    kinds[std::size_t(site)] = x[3] * int(n_kinds) + (parities_of(x, origin) & 7);
  }
  return kinds;
}

class SiteSums {
 public:
  SiteSums(const Communicator& communicator, const Lattice& lattice, const MesonTerms& terms)
      : communicator_(communicator), lattice_(lattice), terms_(terms), kinds_(kinds_of_sites(lattice, terms.origin)) {}

  // Adds the sums of values with all momenta.
  void add_to(std::vector<KindSums>& sums, const Numbers& values) const {
    for (const SinkMomentum& momentum : terms_.momenta) sums.push_back(with_momentum(momentum, values));
  }

 private:
  KindSums with_momentum(const SinkMomentum& momentum, const Numbers& values) const {
    const std::array<Numbers, 3> factors = momentum_factors(lattice_, terms_.origin, momentum);
    KindSums parts{std::vector<double>(values.size()), std::vector<double>(values.size())};
    const int row = lattice_.local()[0];
#pragma omp parallel for
    for (std::int64_t r = 0; r < n_rows(lattice_); ++r)
      weigh_row(row_begin(lattice_, r), r * row, row, factors, values, parts);
    const std::size_t n_groups = std::size_t(lattice_.global()[3]) * n_kinds;
    return {exact_sums(communicator_, parts[0], kinds_, n_groups),
            exact_sums(communicator_, parts[1], kinds_, n_groups)};
  }

  const Communicator& communicator_;
  const Lattice& lattice_;
  const MesonTerms& terms_;
  std::vector<std::int32_t> kinds_;
};

}  // namespace

MesonTerms MesonTerms::of(std::span<const MesonRequest> mesons, const Coordinates& origin) {
  MesonTerms terms{origin};
  for (const MesonRequest& meson : mesons) {
    if (meson.current)
      add_once(terms.currents, *meson.current);
    else
      add_once(terms.sets, meson.sink.shifts());
    add_once(terms.momenta, meson.momentum);
  }
  return terms;
}

std::size_t MesonTerms::term_of(const MesonRequest& meson) const {
  return meson.current ? sets.size() + place_in(currents, *meson.current) : place_in(sets, meson.sink.shifts());
}

std::size_t MesonTerms::momentum_of(const MesonRequest& meson) const { return place_in(momenta, meson.momentum); }

std::vector<KindSums> meson_sums(const Communicator& communicator, const MeasuredLinks& links, const MesonTerms& terms,
                                 const VectorField& antiquark, std::span<const VectorField* const> quarks) {
  const Lattice& lattice = antiquark.lattice();
  const std::map<int, VectorField> shifted =
      spin_taste_shifts(communicator, links, terms.origin, antiquark, terms.sets);
  if (antiquark.space() == MemorySpace::cuda) {
    std::vector<FieldPair> pairs;
    for (const VectorField* const quark : quarks)
      for (const int set : terms.sets) pairs.push_back({set ? &shifted.at(set) : &antiquark, quark});
    return cuda_kind_sums(communicator, terms, pairs);
  }
  const SiteSums sites(communicator, lattice, terms);
  Numbers values(std::size_t(antiquark.size()));
  std::vector<KindSums> sums;
  for (const VectorField* const quark : quarks) {
    for (const int set : terms.sets) {
      const VectorField& operated = set ? shifted.at(set) : antiquark;
      const std::int64_t row = lattice.local()[0];
#pragma omp parallel for
      for (std::int64_t r = 0; r < n_rows(lattice); ++r)
        multiply_sites(operated, *quark, r * row, (r + 1) * row, values);
      sites.add_to(sums, values);
    }
    for (const LinkCurrent& current : terms.currents)
      sites.add_to(sums, current_density(communicator, links, current, terms.origin, antiquark, *quark));
  }
  return sums;
}

#ifndef STAGHORN_CUDA
namespace {
[[noreturn]] void refuse() { throw Error("this build of Staghorn measures no mesons on GPUs"); }
}  // namespace

void cuda_add_shift(const Communicator&, const MeasuredLinks&, const Coordinates&, int, double, const VectorField&,
                    VectorField&) {
  refuse();
}
std::vector<KindSums> cuda_kind_sums(const Communicator&, const MesonTerms&, std::span<const FieldPair>) { refuse(); }
bool cuda_kind_sums_hold(const Lattice&) { return false; }
#endif

}  // namespace staghorn
