// Fat and long links that carry signs of which nobody says more (given_phases.hpp).
#include <array>
#include <cmath>
#include <optional>

#include "dirac/algebra/su3_matrix.hpp"
#include "dirac/gauge/link_phases.hpp"
#include "halo/watch/error.hpp"
#include "solver/interface/layouts/given_phases.hpp"
#include "solver/interface/layouts/places.hpp"
#include "solver/interface/layouts/site_order.hpp"

namespace staghorn {

namespace {

constexpr int patterns = 16;  // of the parities of x, y, z, t; a mask of four bits likewise

int parities(const Coordinates& x) { return (x[0] & 1) | (x[1] & 1) << 1 | (x[2] & 1) << 2 | (x[3] & 1) << 3; }
int sign_of(int mask, int parities) { return __builtin_popcount(unsigned(mask & parities)) & 1 ? -1 : 1; }

// Of direction mu: V = (-1)^(mask x) slice(x_mu) eta F.
struct SignsOfDirection {
  int mask = 0;
  std::vector<int> slice;
};
using Signs = std::array<SignsOfDirection, 4>;

// How many more determinants of links in direction mu are positive than negative, eta taken out: for each slice along
// mu and each pattern. Collective.
std::array<std::vector<std::int64_t>, 4> count_signs(const Communicator& communicator, const LinkField& fat) {
  const Lattice& lattice = fat.lattice();
  std::vector<std::array<signed char, 4>> signs(std::size_t(fat.size()));
  for_all_sites(lattice, [&](std::int64_t site, const Coordinates& x) {
    const Coordinates global = lattice.to_global(x);
    for (int mu = 0; mu < 4; ++mu) {
      const double det = determinant(fat[site][mu]).re * staggered_phase(mu, global);
      signs[std::size_t(site)][std::size_t(mu)] = det > 0 ? 1 : det < 0 ? -1 : 0;
    }
  });
  std::array<std::vector<std::int64_t>, 4> counts;
  for (int mu = 0; mu < 4; ++mu) counts[std::size_t(mu)].assign(std::size_t(patterns * lattice.global()[mu]), 0);
  for (std::int64_t site = 0; site < fat.size(); ++site) {
    const Coordinates x = lattice.to_global(lattice.site_coordinates(site));
    for (std::size_t mu = 0; mu < 4; ++mu)
      counts[mu][std::size_t(patterns * x[mu] + parities(x))] += signs[std::size_t(site)][mu];
  }
  for (std::vector<std::int64_t>& of_direction : counts) communicator.sum(of_direction);
  return counts;
}

// The mask and the signs of slices that more than three quarters of the determinants of every slice have.
std::optional<SignsOfDirection> signs_of_direction(int mu, const std::vector<std::int64_t>& counts,
                                                   std::int64_t sites_of_slice) {
  for (int mask = 0; mask < patterns; ++mask) {
    if (mask & 1 << mu) continue;
    SignsOfDirection found{mask, {}};
    for (std::size_t first = 0; first < counts.size(); first += patterns) {
      std::int64_t sum = 0;
      for (int pattern = 0; pattern < patterns; ++pattern)
        sum += sign_of(mask, pattern) * counts[first + std::size_t(pattern)];
      if (2 * std::abs(sum) <= sites_of_slice) break;
      found.slice.push_back(sum < 0 ? -1 : 1);
    }
    if (found.slice.size() * patterns == counts.size()) return found;
  }
  return std::nullopt;
}

// The flux around plaquettes of the plane mu nu is -1 if both masks agree on it.
void require_staggered_flux(const Signs& signs) {
  std::string wrong;
  int count = 0;
  for (int nu = 1; nu < 4; ++nu)
    for (int mu = 0; mu < nu; ++mu) {
      if ((signs[std::size_t(mu)].mask >> nu & 1) == (signs[std::size_t(nu)].mask >> mu & 1)) continue;
      wrong += std::string(count++ ? ", " : "") + "xyzt"[mu] + "xyzt"[nu];
    }
  if (count > 0)
    throw Error("fat links as given", "determinants with the flux -1 of staggered phases in every plane",
                "another flux in " + wrong + (count == 6 ? "; links without phases have their own name, `none`" : ""));
}

void change_signs(const Signs& signs, LinkField& links, int steps) {
  const Lattice& lattice = links.lattice();
  for_all_sites(lattice, [&](std::int64_t site, const Coordinates& x) {
    const Coordinates global = lattice.to_global(x);
    for (int mu = 0; mu < 4; ++mu) {
      const SignsOfDirection& of_mu = signs[std::size_t(mu)];
      int sign = staggered_phase(mu, global) * sign_of(of_mu.mask, parities(global));
      for (int step = 0; step < steps; ++step)
        sign *= of_mu.slice[std::size_t((global[mu] + step) % lattice.global()[mu])];
      if (sign < 0) multiply(links[site][mu], -1);
    }
  });
}

// S of this rank's sites, and theta of the boundaries.
GivenPhases signs_of_vectors(const Signs& signs, const Lattice& lattice) {
  GivenPhases found;
  std::array<std::vector<int>, 4> along;  // G
  for (std::size_t mu = 0; mu < 4; ++mu) {
    int sign = 1;
    for (const int slice : signs[mu].slice) {
      along[mu].push_back(sign);
      sign *= slice;
    }
    found.boundary.theta[mu] = sign < 0 ? 1 : 0;
  }
  found.signs.resize(std::size_t(lattice.local_volume()));
  for_all_sites(lattice, [&](std::int64_t site, const Coordinates& x) {
    const Coordinates global = lattice.to_global(x);
    int sign = 1;
    for (std::size_t mu = 0; mu < 4; ++mu) {
      const int before = (1 << mu) - 1;  // q of nu < mu
      if (global[mu] & 1) sign *= sign_of(signs[mu].mask & before, parities(global));
      sign *= along[mu][std::size_t(global[mu])];
    }
    found.signs[std::size_t(site)] = static_cast<signed char>(sign);
  });
  return found;
}

// The signs of all directions; nothing where those of one cannot be told. Collective.
std::optional<Signs> find_signs(const Communicator& communicator, const LinkField& fat) {
  const Lattice& lattice = fat.lattice();
  const auto counts = count_signs(communicator, fat);
  Signs signs;
  for (int mu = 0; mu < 4; ++mu) {
    auto found = signs_of_direction(mu, counts[std::size_t(mu)], lattice.global_volume() / lattice.global()[mu]);
    if (!found) return std::nullopt;
    signs[std::size_t(mu)] = std::move(*found);
  }
  return signs;
}

// eta, and nothing else.
Signs no_signs(const Lattice& lattice) {
  Signs signs;
  for (int mu = 0; mu < 4; ++mu) signs[std::size_t(mu)].slice.assign(std::size_t(lattice.global()[mu]), 1);
  return signs;
}

// The mask of links without phases in direction mu: eta of CPS is (-1)^(mask x).
constexpr int plain_mask(int mu) { return (1 << mu) - 1; }

}  // namespace

bool has_pair_signs(const Communicator& communicator, const LinkField& fat, const std::array<bool, 4>& twisted) {
  const auto found = find_signs(communicator, fat);
  if (!found) return false;
  for (int mu = 0; mu < 4; ++mu) {
    const auto& [mask, slice] = (*found)[std::size_t(mu)];
    if (mask != plain_mask(mu)) return true;
    for (std::size_t x = 0; x < slice.size(); ++x)
      if (slice[x] < 0 && !(twisted[std::size_t(mu)] && x + 1 == slice.size())) return true;
  }
  return false;
}

GivenPhases take_out_pair_signs(const Communicator& communicator, LinkField& fat, LinkField* naik) {
  const Lattice& lattice = fat.lattice();
  const auto found = find_signs(communicator, fat);
  if (found) require_staggered_flux(*found);
  const Signs signs = found ? *found : no_signs(lattice);
  change_signs(signs, fat, 1);
  if (naik) change_signs(signs, *naik, 3);
  if (found) return signs_of_vectors(signs, lattice);
  GivenPhases as_they_are;
  as_they_are.boundary.theta = {0, 0, 0, 0};
  as_they_are.only_signs = false;
  return as_they_are;
}

}  // namespace staghorn
