// Staggered phases and boundary signs multiplied into links, as files of other codes hold them.
//
// Our own links carry neither: the operator applies them (dirac/stencil/boundary.hpp). All are signs, so that taking
// them out is the same as putting them in, and exact.
#pragma once

#include <string>

#include "dirac/fields/site_field.hpp"
#include "dirac/stencil/boundary.hpp"

namespace staghorn {

enum class LinkPhases { none, cps, milc, tifr, chroma };
std::string to_string(LinkPhases phases);
LinkPhases parse_link_phases(const std::string& text);  // none, cps or milc; throws Error naming these choices

// eta_mu(x) of a convention, +1 or -1; 1 for none.
//   CPS, Chroma   1              (-1)^x       (-1)^(x+y)     (-1)^(x+y+z)      for mu = x, y, z, t
//   MILC          (-1)^t         (-1)^(t+x)   (-1)^(t+x+y)   1
//   TIFR          (-1)^(y+z+t)   (-1)^(z+t)   (-1)^t         1                 [QUDA, QudaStaggeredPhase]
constexpr int link_phase(LinkPhases phases, int mu, const Coordinates& x) {
  int exponent = 0;
  switch (phases) {
    case LinkPhases::none:
      break;
    case LinkPhases::cps:
    case LinkPhases::chroma:
      return staggered_phase(mu, x);
    case LinkPhases::milc:
      exponent = mu == 3 ? 0 : x[3];
      for (int nu = 0; nu < mu && mu < 3; ++nu) exponent += x[nu];
      break;
    case LinkPhases::tifr:
      for (int nu = mu + 1; nu < 4; ++nu) exponent += x[nu];
      break;
  }
  return exponent & 1 ? -1 : 1;
}

// S(x) = +-1 that leads from CPS's phases to others: eta_mu(x) = S(x) eta^cps_mu(x) S(x+mu), so D = S D_cps S. It is
// periodic where all extents are even. 1 for none.
constexpr int phase_change(LinkPhases phases, const Coordinates& x) {
  if (phases == LinkPhases::milc) return milc_phase_sign(x);
  if (phases != LinkPhases::tifr) return 1;
  int pairs = 0;  // sum over mu < nu of x_mu x_nu
  for (int nu = 1; nu < 4; ++nu)
    for (int mu = 0; mu < nu; ++mu) pairs += (x[mu] & 1) * (x[nu] & 1);
  return pairs & 1 ? -1 : 1;
}

// Multiplies U_mu(x) by eta_mu(x) and, where its `steps` sites forward cross the boundary, by that boundary's sign.
// With `none` the links stay as they are. Throws Error where a boundary is not periodic or antiperiodic. Local.
void multiply_phases(LinkField& links, LinkPhases phases, const Boundary& boundary, int steps);

}  // namespace staghorn
