#include "solver/interface/layouts/given_phases.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "dirac/algebra/su3_matrix.hpp"
#include "halo/watch/error.hpp"
#include "solver/interface/layouts/places.hpp"

namespace staghorn {

namespace {

using Scalars = SiteField<LinkScalars>;
using Neighbours = NeighbourSites<LinkScalars>;

// A determinant is a sign if its imaginary part is below this; links in fp32 deviate by some 1e-7.
constexpr double sign_tolerance = 1e-5;

constexpr int planes = 6;
// The number of the plane mu nu, mu < nu: xy, xz, yz, xt, yt, zt.
constexpr int plane(int mu, int nu) { return mu + nu * (nu - 1) / 2; }
constexpr const char* plane_names[planes] = {"xy", "xz", "yz", "xt", "yt", "zt"};

std::string place(const Lattice& lattice, std::int64_t global_site) {
  const Coordinates x = unravel(global_site, lattice.global());
  std::string text = "(";
  for (int mu = 0; mu < 4; ++mu) text += std::to_string(x[mu]) + (mu < 3 ? ", " : ")");
  return text;
}

std::string link_name(const Lattice& lattice, std::int64_t global_site, int mu) {
  return std::string("links as given: U_") + "xyzt"[mu] + " at " + place(lattice, global_site);
}

// Zeros on every local site. No memory on one rank is an error on all. Collective.
Scalars make_scalars(const Communicator& communicator, const Lattice& lattice) {
  std::optional<Scalars> made;
  communicator.agree([&] { made.emplace(lattice); });
  return std::move(*made);
}

// The smallest of what ranks found; nothing where none found any. Collective.
std::optional<std::int64_t> smallest(const Communicator& communicator, std::optional<std::int64_t> found) {
  constexpr double none = std::numeric_limits<double>::infinity();
  const double least = -communicator.max(found ? -double(*found) : -none);
  if (least == none) return {};
  return std::int64_t(least);
}

// The smallest of number(site) over local sites; number gives -1 where there is nothing.
template <class Number>
std::optional<std::int64_t> smallest_local(const Lattice& lattice, const Number& number) {
  std::optional<std::int64_t> least;
  for (std::int64_t site = 0; site < lattice.local_volume(); ++site) {
    const std::int64_t found = number(site);
    if (found >= 0 && (!least || found < *least)) least = found;
  }
  return least;
}

std::int64_t global_site(const Lattice& lattice, std::int64_t site) {
  return lattice.global_site_index(lattice.to_global(lattice.site_coordinates(site)));
}

// det V / |det V| of the links of a site. Returns 1 + mu for the first that is not finite or singular, else 0.
STAGHORN_FMA_CLONES
int determinant_phases(const Links& links, LinkScalars& phases) {
  int bad = 0;
  for (int mu = 3; mu >= 0; --mu) {
    const Complex<double> det = determinant(links[mu]);
    const double modulus = std::sqrt(add_norm2(det, 0.0));
    if (!(modulus > 0) || !std::isfinite(modulus)) bad = 1 + mu;
    phases[mu] = {det.re / modulus, det.im / modulus};
  }
  return bad;
}

// A bit for each plane: the flux of the plaquette is more than a quarter turn away from -1. `ahead[mu]`: the phases one
// step along mu.
STAGHORN_FMA_CLONES
int wrong_planes(const LinkScalars& here, const LinkScalars* const (&ahead)[4]) {
  int bits = 0;
  for (int nu = 1; nu < 4; ++nu)
    for (int mu = 0; mu < nu; ++mu) {
      const Complex<double> there = here[mu] * (*ahead[mu])[nu], back = here[nu] * (*ahead[nu])[mu];
      if ((there * conjugate(back)).re >= 0) bits |= 1 << plane(mu, nu);
    }
  return bits;
}

// det V / |det V| of every link. Collective.
Scalars determinant_phases(const Communicator& communicator, const LinkField& links) {
  const Lattice& lattice = links.lattice();
  Scalars phases = make_scalars(communicator, lattice);
  std::vector<unsigned char> bad(std::size_t(links.size()), 0);  // 1 + mu
  for_all_sites(lattice, [&](std::int64_t site, const Coordinates&) {
    bad[std::size_t(site)] = static_cast<unsigned char>(determinant_phases(links[site], phases[site]));
  });
  const auto worst = smallest(communicator, smallest_local(lattice, [&](std::int64_t site) -> std::int64_t {
                                const int mark = bad[std::size_t(site)];
                                return mark ? 4 * global_site(lattice, site) + mark - 1 : -1;
                              }));
  if (worst)
    throw Error(link_name(lattice, *worst / 4, int(*worst % 4)), "a finite link whose determinant is not 0",
                "another one");
  return phases;
}

// For each site a bit for each plane: the flux of its plaquette is more than a quarter turn away from -1. Collective.
Scalars wrong_plaquettes(const Communicator& communicator, const Scalars& phases) {
  const Lattice& lattice = phases.lattice();
  std::vector<Neighbours> ahead;
  for (int mu = 0; mu < 4; ++mu) ahead.emplace_back(communicator, phases, mu, +1);
  Scalars wrong = make_scalars(communicator, lattice);
  for_all_sites(lattice, [&](std::int64_t site, const Coordinates&) {
    const LinkScalars* const one_ahead[4] = {&ahead[0][site], &ahead[1][site], &ahead[2][site], &ahead[3][site]};
    wrong[site][0].re = wrong_planes(phases[site], one_ahead);
  });
  return wrong;
}

int bits(const LinkScalars& wrong) { return int(wrong[0].re); }

// Throws Error where a plaquette is wrong. Collective.
void require_staggered_flux(const Communicator& communicator, const Scalars& phases) {
  const Lattice& lattice = phases.lattice();
  const Scalars wrong = wrong_plaquettes(communicator, phases);
  std::int64_t count = 0;
  for (std::int64_t site = 0; site < wrong.size(); ++site) count += __builtin_popcount(unsigned(bits(wrong[site])));
  count = communicator.sum(count);
  if (count == 0) return;

  std::vector<Neighbours> behind;
  for (int mu = 0; mu < 4; ++mu) behind.emplace_back(communicator, wrong, mu, -1);
  const auto all_six_wrong = [&](std::int64_t site, int mu) {
    for (int nu = 0; nu < 4; ++nu) {
      if (nu == mu) continue;
      const int bit = 1 << plane(std::min(mu, nu), std::max(mu, nu));
      if (!(bits(wrong[site]) & bits(behind[nu][site]) & bit)) return false;
    }
    return true;
  };
  const auto link = smallest(communicator, smallest_local(lattice, [&](std::int64_t site) -> std::int64_t {
                               for (int mu = 0; mu < 4; ++mu)
                                 if (all_six_wrong(site, mu)) return 4 * global_site(lattice, site) + mu;
                               return -1;
                             }));
  const auto plaquette =
      smallest(communicator, smallest_local(lattice, [&](std::int64_t site) -> std::int64_t {
                 if (!bits(wrong[site])) return -1;
                 return planes * global_site(lattice, site) + __builtin_ctz(unsigned(bits(wrong[site])));
               }));
  const std::string where = link ? link_name(lattice, *link / 4, int(*link % 4))
                                 : std::string("links as given: plaquette ") + plane_names[*plaquette % planes] +
                                       " at " + place(lattice, *plaquette / planes);
  const std::int64_t all = planes * lattice.global_volume();
  throw Error(where, "determinants with the flux -1 of staggered phases around every plaquette",
              std::to_string(count) + " of " + std::to_string(all) + " plaquettes with another flux" +
                  (count == all ? "; links without phases have their own name, `none`" : ""));
}

int sign_of(const Complex<double>& phase) { return phase.re < 0 ? -1 : 1; }

// The signs that are left of a link when CPS's eta is taken out: S(x) w S(x+mu).
int sign_left(const Scalars& phases, std::int64_t site, int mu) {
  const Lattice& lattice = phases.lattice();
  return sign_of(phases[site][mu]) * staggered_phase(mu, lattice.to_global(lattice.site_coordinates(site)));
}

// S of this rank's sites with S = 1 at its origin: along t at x = y = z = 0, from there along z, then y, then x. Local.
std::vector<signed char> walk_locally(const Scalars& phases) {
  const Lattice& lattice = phases.lattice();
  const Extents& n = lattice.local();
  std::vector<signed char> s(std::size_t(lattice.local_volume()), 1);
  const auto step = [&](std::int64_t from, int mu, std::int64_t to) {
    s[std::size_t(to)] = static_cast<signed char>(s[std::size_t(from)] * sign_left(phases, from, mu));
  };
  for (std::int64_t row = n[0]; row < lattice.local_volume(); row += n[0]) {
    const Coordinates x = lattice.site_coordinates(row);
    int mu = 1;
    while (x[mu] == 0) ++mu;
    Coordinates before = x;
    --before[mu];
    step(lattice.site_index(before), mu, row);
  }
  const std::int64_t sites = lattice.local_volume(), row_length = n[0];
#pragma omp parallel for schedule(static)
  for (std::int64_t row = 0; row < sites; row += row_length)
    for (std::int64_t site = row + 1; site < row + row_length; ++site) step(site - 1, 0, site);
  return s;
}

// For each rank and direction the sign between its S and that of the rank ahead (itself, where the direction is not
// cut), boundary included. The same on every site of the face, since every flux is right. Collective.
std::vector<std::int64_t> signs_between_ranks(const Communicator& communicator, const Scalars& phases,
                                              const std::vector<signed char>& s) {
  const Lattice& lattice = phases.lattice();
  Scalars own = make_scalars(communicator, lattice);
  for (std::int64_t site = 0; site < own.size(); ++site) own[site][0].re = s[std::size_t(site)];
  std::vector<std::int64_t> between(std::size_t(4 * volume(lattice.grid())), 0);
  for (int mu = 0; mu < 4; ++mu) {
    const Neighbours ahead(communicator, own, mu, +1);
    Coordinates last{};
    last[mu] = lattice.local()[mu] - 1;
    const std::int64_t site = lattice.site_index(last);
    between[std::size_t(4 * lattice.rank() + mu)] =
        sign_left(phases, site, mu) * s[std::size_t(site)] * int(ahead[site][0].re);
  }
  communicator.sum(between);
  return between;
}

// Walks from rank to rank as walk_locally does from site to site: the sign of this rank, and theta of the boundaries.
GivenPhases join_ranks(const Lattice& lattice, const std::vector<std::int64_t>& between, std::vector<signed char> s) {
  const auto along = [&](const Coordinates& from, int mu) {
    std::int64_t rank = 0;
    for (int nu = 3; nu >= 0; --nu) rank = rank * lattice.grid()[nu] + from[nu];
    return int(between[std::size_t(4 * rank + mu)]);
  };
  int sign = 1;
  Coordinates at{};
  for (int mu = 3; mu >= 0; --mu)
    for (; at[mu] < lattice.grid_coordinates()[mu]; ++at[mu]) sign *= along(at, mu);
  GivenPhases found;
  for (int mu = 0; mu < 4; ++mu) {
    int around = 1;
    Coordinates rank{};
    for (; rank[mu] < lattice.grid()[mu]; ++rank[mu]) around *= along(rank, mu);
    found.boundary.theta[mu] = around < 0 ? 1 : 0;
  }
  for (signed char& value : s) value = static_cast<signed char>(value * sign);
  found.signs = std::move(s);
  return found;
}

}  // namespace

GivenPhases take_out_phases(const Communicator& communicator, LinkField& links) {
  const Lattice& lattice = links.lattice();
  const Scalars phases = determinant_phases(communicator, links);
  require_staggered_flux(communicator, phases);

  bool complex = false;
  for (std::int64_t site = 0; site < phases.size() && !complex; ++site)
    for (const Complex<double>& phase : phases[site]) complex |= std::fabs(phase.im) > sign_tolerance;
  const bool only_signs = !communicator.any(complex);

  GivenPhases found;
  if (only_signs) {
    std::vector<signed char> s = walk_locally(phases);
    const std::vector<std::int64_t> between = signs_between_ranks(communicator, phases, s);
    found = join_ranks(lattice, between, std::move(s));
  } else {
    found.boundary.theta = {0, 0, 0, 0};
  }
  found.only_signs = only_signs;
  for_all_sites(lattice, [&](std::int64_t site, const Coordinates& x) {
    for (int mu = 0; mu < 4; ++mu) {
      const int sign = only_signs ? sign_of(phases[site][mu]) : staggered_phase(mu, lattice.to_global(x));
      if (sign < 0) multiply(links[site][mu], -1);
    }
  });
  return found;
}

}  // namespace staghorn
