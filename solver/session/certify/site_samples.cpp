#include "solver/session/certify/site_samples.hpp"

#include <algorithm>
#include <cstring>
#include <set>
#include <span>
#include <utility>

#include "dirac/algebra/su3_matrix.hpp"
#include "dirac/operators/plain_operator.hpp"
#include "dirac/stencil/legs.hpp"
#include "solver/session/certify/convention_signs.hpp"

namespace staghorn {

namespace {

constexpr std::size_t most_of_largest = 24;  // sites where a field is largest
constexpr int most_slices = 128;

// Entry by entry the one rank's value that is not all bits zero: every rank has the same afterwards.
void collect(const Communicator& communicator, std::span<double> values) {
  std::vector<std::int64_t> words(values.size());
  std::memcpy(words.data(), values.data(), values.size_bytes());
  communicator.sum(words);
  std::memcpy(values.data(), words.data(), values.size_bytes());
}

// The sites where |v| is largest, by global index; of equal ones the first.
void add_largest(const Communicator& communicator, const VectorField& v, std::set<std::int64_t>& sites) {
  const Lattice& lattice = v.lattice();
  using Entry = std::pair<double, std::int64_t>;  // -|v|^2 and the site: ascending
  std::vector<Entry> own;
  for (std::int64_t site = 0; site < v.size(); ++site) {
    const double size = norm2(v[site]);
    if (size > 0) own.emplace_back(-size, lattice.global_site_index(lattice.to_global(lattice.site_coordinates(site))));
  }
  const std::size_t n = std::min(most_of_largest, own.size());
  std::partial_sort(own.begin(), own.begin() + std::ptrdiff_t(n), own.end());
  std::vector<double> all(std::size_t(communicator.size()) * most_of_largest * 2);
  double* const mine = &all[std::size_t(communicator.rank()) * most_of_largest * 2];
  for (std::size_t i = 0; i < n; ++i) {
    mine[2 * i] = own[i].first;
    mine[2 * i + 1] = double(own[i].second);
  }
  collect(communicator, all);
  own.clear();
  for (std::size_t i = 0; i < all.size(); i += 2)
    if (all[i] < 0) own.emplace_back(all[i], std::int64_t(all[i + 1]));
  std::sort(own.begin(), own.end());
  for (std::size_t i = 0; i < std::min(most_of_largest, own.size()); ++i) sites.insert(own[i].second);
}

Coordinates neighbour(const Coordinates& x, const Extents& global, int mu, int steps, int* crossings = nullptr) {
  Coordinates y = x;
  y[mu] = (x[mu] + steps + 4 * global[mu]) % global[mu];
  if (crossings) *crossings = (x[mu] + steps - y[mu]) / global[mu];
  return y;
}

int steps_along(const Leg& leg) { return leg.forward ? steps_of(leg.set) : -steps_of(leg.set); }

// Adds to the sum of paths with this end.
void add_path(std::vector<PathSum>& sums, const Coordinates& end, bool crosses, const ColorVector<double>& value) {
  const auto same = [&](const PathSum& sum) { return sum.end == end && sum.crosses_t == crosses; };
  auto at = std::find_if(sums.begin(), sums.end(), same);
  if (at == sums.end()) {
    sums.push_back({end, crosses, value});
    return;
  }
  for (int i = 0; i < 3; ++i) at->value.c[i] = at->value.c[i] + value.c[i];
}

bool is_sign(double theta) { return theta == 0 || theta == 1; }

}  // namespace

std::vector<std::int64_t> chosen_sites(const Communicator& communicator, const VectorField& x, const VectorField& b) {
  const Lattice& lattice = x.lattice();
  const Extents& global = lattice.global();
  std::set<std::int64_t> sites;
  add_largest(communicator, b, sites);
  add_largest(communicator, x, sites);
  for (int t = 0; t < std::min(global[3], most_slices); ++t) {
    std::uint64_t mixed = (std::uint64_t(t) + 1) * 0x9e3779b97f4a7c15;  // golden ratio: any corner of the slice
    Coordinates site{0, 0, 0, t};
    for (int mu = 0; mu < 3; ++mu) {
      mixed = (mixed ^ mixed >> 29) * 0xbf58476d1ce4e5b9;
      site[mu] = int((mixed >> 33) % std::uint64_t(global[mu]));
    }
    sites.insert(lattice.global_site_index(site));
    sites.insert(lattice.global_site_index(neighbour(site, global, 0, 1)));
  }
  return {sites.begin(), sites.end()};
}

SiteSamples::SiteSamples(const Communicator& communicator, const OperatorLinks& links, const VectorField& x,
                         const VectorField& b, std::vector<std::int64_t> sites)
    : global_(links.lattice().global()),
      stencil_(links.stencil()),
      naik_scale_(links.naik_scale),
      sites_(std::move(sites)) {
  // A backward leg reads the link of the site that it leads to, so ends of two legs are all that is read.
  for (const std::int64_t site : sites_) {
    const Coordinates here = unravel(site, global_);
    index_[site] = 0;
    for (int i = 0; i < legs_of(stencil_); ++i) {
      const Coordinates next = step(here, i).end;
      index_[index_of(next)] = 0;
      for (int j = 0; j < legs_of(stencil_); ++j) index_[index_of(step(next, j).end)] = 0;
    }
  }
  std::size_t n = 0;
  for (auto& [site, place] : index_) place = n++;
  places_.assign(n, {});
  const Lattice& lattice = links.lattice();
  for (std::int64_t site = 0; site < x.size(); ++site) {
    const auto found = index_.find(lattice.global_site_index(lattice.to_global(lattice.site_coordinates(site))));
    if (found == index_.end()) continue;
    places_[found->second] = {x[site], b[site], links.near[site], links.naik ? (*links.naik)[site] : Links{}};
  }
  static_assert(sizeof(Place) % sizeof(double) == 0);
  collect(communicator, {reinterpret_cast<double*>(places_.data()), n * sizeof(Place) / sizeof(double)});
}

std::int64_t SiteSamples::index_of(const Coordinates& x) const {
  return x[0] + std::int64_t{global_[0]} * (x[1] + std::int64_t{global_[1]} * (x[2] + std::int64_t{global_[2]} * x[3]));
}

SiteSamples::Step SiteSamples::step(const Coordinates& from, int number) const {
  const Leg leg = leg_of(stencil_, number);
  int crossings = 0;
  const Coordinates end = neighbour(from, global_, leg.mu, steps_along(leg), &crossings);
  return {end, leg.mu == 3 ? crossings : 0};
}

// The term of D at `from` that leads to where v stands.
ColorVector<double> SiteSamples::hop(const Coordinates& from, int number, LinkReading reading, const Boundary& boundary,
                                     const ColorVector<double>& v) const {
  const Leg leg = leg_of(stencil_, number);
  int crossings = 0;
  const Coordinates end = neighbour(from, global_, leg.mu, steps_along(leg), &crossings);
  const Place& place = at(leg.forward ? from : end);
  const ColorMatrix<double> link = read_as(reading, (leg.set == LinkSet::naik ? place.naik : place.near)[leg.mu]);
  ColorVector<double> product{};
  if (leg.forward)
    multiply_add(product, link, v);
  else
    adjoint_multiply_subtract(product, link, v);
  const double theta = leg.mu == 3 && is_sign(boundary.theta[3]) ? 0 : boundary.theta[leg.mu] * crossings;
  const double weight = staggered_phase(leg.mu, from) * (leg.set == LinkSet::naik ? naik_scale_ : 1.0);
  const Complex<double> phase = boundary_phase(theta);
  for (Complex<double>& c : product.c) c = weight * (phase * c);
  return product;
}

std::vector<SampledSite> SiteSamples::path_sums(LinkReading reading, const Boundary& boundary) const {
  const int legs = legs_of(stencil_);
  std::vector<SampledSite> sampled;
  for (const std::int64_t index : sites_) {
    const Coordinates here = unravel(index, global_);
    SampledSite& site = sampled.emplace_back(SampledSite{here, at(here).x, at(here).b, {}, {}});
    for (int i = 0; i < legs; ++i) {
      const Step first = step(here, i);
      add_path(site.one, first.end, first.crossings_t & 1, hop(here, i, reading, boundary, at(first.end).x));
      for (int j = 0; j < legs; ++j) {
        const Step second = step(first.end, j);
        const ColorVector<double> inner = hop(first.end, j, reading, boundary, at(second.end).x);
        add_path(site.two, second.end, (first.crossings_t + second.crossings_t) & 1,
                 hop(here, i, reading, boundary, inner));
      }
    }
  }
  return sampled;
}

}  // namespace staghorn
