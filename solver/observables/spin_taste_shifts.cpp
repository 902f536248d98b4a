#include "solver/observables/spin_taste_shifts.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <string_view>

#include "dirac/operators/covariant_shift.hpp"
#include "solver/observables/cuda_meson_sums.hpp"

namespace staghorn {

namespace {

// The orders of shifts that count +, by set, first shift first.
constexpr std::array<std::string_view, 16> orders{"",  "x",  "y",  "yx",  "z",  "xz",  "zy",  "xyz",
                                                  "t", "tx", "ty", "xyt", "tz", "xzt", "yzt", "xyzt"};
constexpr std::string_view names = "xyzt";

// The sign of the order of `set` whose last shift is `d`, the others before it in the order of the set without d.
int sign_of(int set, int d) {
  std::string order(orders[std::size_t(set & ~(1 << d))]);
  order += names[std::size_t(d)];
  int inversions = 0;
  const std::string_view positive = orders[std::size_t(set)];
  for (std::size_t i = 0; i < order.size(); ++i)
    for (std::size_t j = i + 1; j < order.size(); ++j)
      inversions += int(positive.find(order[i]) > positive.find(order[j]));
  return inversions % 2 ? -1 : 1;
}

// sum(x) += weight zeta_d(x) v(x)
void add_with_zeta(VectorField& sum, double weight, int d, const Coordinates& source, const VectorField& v) {
  const Lattice& lattice = v.lattice();
#pragma omp parallel for
  for (std::int64_t site = 0; site < v.size(); ++site) {
    const Coordinates x = lattice.to_global(lattice.site_coordinates(site));
    int exponent = x[d] - source[d];
    for (int mu = 0; mu < 4; ++mu) exponent += x[mu] - source[mu];
    const double factor = exponent & 1 ? -weight : weight;
    for (int i = 0; i < 3; ++i) {
      sum[site].c[i].re = multiply_add(factor, v[site].c[i].re, sum[site].c[i].re);
      sum[site].c[i].im = multiply_add(factor, v[site].c[i].im, sum[site].c[i].im);
    }
  }
}

// Whether this set is one of those asked for, or a part of one.
bool is_wanted(int set, std::span<const int> sets) {
  return std::any_of(sets.begin(), sets.end(), [&](int asked) { return (set & ~asked) == 0; });
}

}  // namespace

int n_spin_taste_shifts(std::span<const int> sets) {
  int n = 0;
  for (int set = 1; set < 16; ++set) n += is_wanted(set, sets);
  return n;
}

std::map<int, VectorField> spin_taste_shifts(const Communicator& communicator, const MeasuredLinks& links,
                                             const Coordinates& source, const VectorField& f,
                                             std::span<const int> sets) {
  std::map<int, VectorField> shifted;
  for (int set = 1; set < 16; ++set) {  // a set comes after its parts
    if (!is_wanted(set, sets)) continue;
    VectorField& sum = shifted.emplace(set, VectorField(f.lattice(), f.space())).first->second;
    const double weight = 1.0 / std::popcount(unsigned(set));
    for (int d = 0; d < 4; ++d) {
      if (!(set >> d & 1)) continue;
      const int rest = set & ~(1 << d);
      const VectorField& before = rest ? shifted.at(rest) : f;
      const double factor = sign_of(set, d) * weight;
      if (f.space() == MemorySpace::cuda) {
        cuda_add_shift(communicator, links, source, d, factor, before, sum);
        continue;
      }
      add_with_zeta(sum, factor, d, source, symmetric_shift(communicator, *links.thin, links.boundary, before, d));
    }
  }
  return shifted;
}

}  // namespace staghorn
