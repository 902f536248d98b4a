// Energy density and topological charge of a configuration, from the clover field strength.
#pragma once

#include <span>

#include "dirac/gauge/smoothing/rimmed_links.hpp"

namespace staghorn {

// In lattice units. E = -sum_(mu<nu) tr F_munu^2 = (1/4) F^a_munu F^a_munu, mean over sites
// [Luescher, arXiv:1006.4518, eq. 3.1, and its figure 1 for the clover].
struct FieldStrength {
  double energy_space = 0, energy_time = 0;  // of the planes xy, xz, yz, and of xt, yt, zt
  double charge = 0;                         // Q = (1 / 32 pi^2) sum_x epsilon tr F F, sum over sites
  double energy() const { return energy_space + energy_time; }
};

// fp64. Sums are exact, so the bits depend neither on ranks nor on threads. Collective.
FieldStrength field_strength(const Communicator& communicator, const Rims& rims, const LinkField& links);
// From what each local site contributes, in any order of sites: -tr F^2 of the planes in space, and of those with time,
// and the density of the charge (SiteFieldStrength). Collective.
FieldStrength mean_field_strength(const Communicator& communicator, const Lattice& lattice,
                                  std::span<const double> space, std::span<const double> time,
                                  std::span<const double> charge);

}  // namespace staghorn
