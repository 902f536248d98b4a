// What fat and Naik links from a file tell about themselves: which staggered phases and boundary signs are in them, the
// coefficient of the Naik links, and whether both belong together.
//
// Determinants tell signs: a link of SU(3), and a product of three, has det = 1; fat links and links of U(3) have
// determinants whose phases scatter around 1. A sign eta turns det into -det. So the mean of Re det / |det|, with the
// right phases taken out, is near 1 in every direction, near 0 with wrong ones, and it is negative where links cross an
// antiperiodic boundary. All means are exact sums, so every rank and every process grid finds the same.
#pragma once

#include <array>
#include <optional>

#include "dirac/fields/site_field.hpp"
#include "dirac/gauge/link_phases.hpp"
#include "dirac/stencil/boundary.hpp"
#include "halo/communicator.hpp"

namespace staghorn {

struct FoundPhases {
  LinkPhases phases = LinkPhases::none;
  Boundary boundary{{0, 0, 0, 0}};  // theta 1 where links that cross the boundary carry its sign
  int sign = 1;                     // of the coefficient that all links share
};

// The convention among none, cps and milc that fits links of `steps` sites; nothing if none does, as on configurations
// without order. Collective.
std::optional<FoundPhases> find_phases(const Communicator& communicator, const LinkField& links, int steps);

// c = sign sqrt(mean tr N N^dagger / 3), the coefficient of links that are c times a unitary matrix. Collective.
double common_coefficient(const Communicator& communicator, const LinkField& links, int sign);

// Every element multiplied by `factor`. Local.
void scale_links(LinkField& links, double factor);

// The mean of Re tr N_mu(x)^dagger F_mu(x) F_mu(x+mu) F_mu(x+2mu), relative to the roots of both mean squares: near 1
// for fat and Naik links of one configuration in one gauge, near 0 for others. Phases have to be out. Collective.
double likeness(const Communicator& communicator, const LinkField& fat, const LinkField& naik);

}  // namespace staghorn
