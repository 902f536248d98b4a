#include "dirac/gauge/stored_links.hpp"

#include <cmath>

#include "dirac/algebra/exact_sum.hpp"
#include "dirac/algebra/su3_matrix.hpp"
#include "dirac/gauge/improved_links.hpp"

namespace staghorn {

namespace {

using Reals = SiteField<double>;

double sum_of(const Communicator& communicator, const Reals& values) {
  return exact_sum(communicator, {values.data(), std::size_t(values.size())});
}

// A mean below this speaks for no sign. Right phases give 1 for products of links in SU(3), and 0.9 for HISQ links.
constexpr double least_mean = 0.25;

// Re det / |det| of the links in direction mu; 0 where det is 0.
Reals determinant_cosines(const LinkField& links, int mu) {
  Reals cosines(links.lattice());
#pragma omp parallel for schedule(static)
  for (std::int64_t site = 0; site < links.size(); ++site) {
    const Complex<double> d = determinant(links[site][mu]);
    const double size = std::sqrt(add_norm2(d, 0.0));
    cosines[site] = size > 0 ? d.re / size : 0;
  }
  return cosines;
}

// How often `steps` sites forward along mu cross the global boundary.
int crossings(const Lattice& lattice, const Coordinates& x, int mu, int steps) {
  return (x[mu] + steps) / lattice.global()[mu];
}

// Mean cosine of links that cross the boundary an even [0] and an odd [1] number of times, `phases` taken out.
std::array<double, 2> mean_cosines(const Communicator& communicator, const Reals& cosines, LinkPhases phases, int mu,
                                   int steps) {
  const Lattice& lattice = cosines.lattice();
  std::array<double, 2> means{};
  for (int odd = 0; odd < 2; ++odd) {
    Reals taken(lattice), counted(lattice);
#pragma omp parallel for schedule(static)
    for (std::int64_t site = 0; site < cosines.size(); ++site) {
      const Coordinates x = lattice.to_global(lattice.site_coordinates(site));
      if (crossings(lattice, x, mu, steps) % 2 != odd) continue;
      taken[site] = link_phase(phases, mu, x) * cosines[site];
      counted[site] = 1;
    }
    means[std::size_t(odd)] = sum_of(communicator, taken) / sum_of(communicator, counted);
  }
  return means;
}

std::optional<FoundPhases> fit(const Communicator& communicator, const std::array<Reals, 4>& cosines, LinkPhases phases,
                               int steps) {
  FoundPhases found;
  found.phases = phases;
  for (int mu = 0; mu < 4; ++mu) {
    const auto [even, odd] = mean_cosines(communicator, cosines[std::size_t(mu)], phases, mu, steps);
    if (!(std::fabs(even) > least_mean && std::fabs(odd) > least_mean)) return std::nullopt;
    const int sign = even < 0 ? -1 : 1;
    if (mu > 0 && sign != found.sign) return std::nullopt;
    found.sign = sign;
    found.boundary.theta[std::size_t(mu)] = (odd < 0) != (even < 0) ? 1 : 0;
  }
  return found;
}

}  // namespace

std::optional<FoundPhases> find_phases(const Communicator& communicator, const LinkField& links, int steps) {
  const std::array<Reals, 4> cosines{determinant_cosines(links, 0), determinant_cosines(links, 1),
                                     determinant_cosines(links, 2), determinant_cosines(links, 3)};
  for (const LinkPhases phases : {LinkPhases::none, LinkPhases::cps, LinkPhases::milc})
    if (const auto found = fit(communicator, cosines, phases, steps)) return found;
  return std::nullopt;
}

double common_coefficient(const Communicator& communicator, const LinkField& links, int sign) {
  Reals squares(links.lattice());
#pragma omp parallel for schedule(static)
  for (std::int64_t site = 0; site < links.size(); ++site)
    for (const auto& link : links[site]) squares[site] += real_trace_adjoint(link, link);
  return sign * std::sqrt(sum_of(communicator, squares) / (12.0 * double(links.lattice().global_volume())));
}

void scale_links(LinkField& links, double factor) {
#pragma omp parallel for schedule(static)
  for (std::int64_t site = 0; site < links.size(); ++site)
    for (auto& link : links[site])
      for (auto& row : link.e)
        for (auto& element : row) element = {factor * element.re, factor * element.im};
}

double likeness(const Communicator& communicator, const LinkField& fat, const LinkField& naik) {
  const LinkField three = three_link_products(communicator, fat);
  Reals common(fat.lattice()), fat2(fat.lattice()), naik2(fat.lattice());
#pragma omp parallel for schedule(static)
  for (std::int64_t site = 0; site < fat.size(); ++site)
    for (int mu = 0; mu < 4; ++mu) {
      common[site] += real_trace_adjoint(three[site][mu], naik[site][mu]);
      fat2[site] += real_trace_adjoint(three[site][mu], three[site][mu]);
      naik2[site] += real_trace_adjoint(naik[site][mu], naik[site][mu]);
    }
  return sum_of(communicator, common) / std::sqrt(sum_of(communicator, fat2) * sum_of(communicator, naik2));
}

}  // namespace staghorn
