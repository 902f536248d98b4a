// Staggered phases and boundary signs multiplied into links, as files of other codes hold them.
//
// Our own links carry neither: the operator applies them (dirac/stencil/boundary.hpp). All are signs, so that taking
// them out is the same as putting them in, and exact.
#pragma once

#include <string>

#include "dirac/fields/site_field.hpp"
#include "dirac/stencil/boundary.hpp"

namespace staghorn {

enum class LinkPhases { none, cps, milc };
std::string to_string(LinkPhases phases);
LinkPhases parse_link_phases(const std::string& text);  // throws Error naming the choices

// eta_mu(x) of a convention, +1 or -1; 1 for none.
int link_phase(LinkPhases phases, int mu, const Coordinates& x);

// Multiplies U_mu(x) by eta_mu(x) and, where its `steps` sites forward cross the boundary, by that boundary's sign.
// With `none` the links stay as they are. Throws Error where a boundary is not periodic or antiperiodic. Local.
void multiply_phases(LinkField& links, LinkPhases phases, const Boundary& boundary, int steps);

}  // namespace staghorn
