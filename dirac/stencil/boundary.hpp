// Staggered phases and boundary conditions: the one place where their signs are defined.
// Fields of a request get them by change_phases (solver/request/sources.hpp), links by link_phases.hpp.
//
// Internal phases (CPS): eta_x = 1, eta_y = (-1)^x, eta_z = (-1)^(x+y), eta_t = (-1)^(x+y+z), global coordinates.
// MILC's set is (-1)^t, (-1)^(t+x), (-1)^(t+x+y), 1 for x, y, z, t. A solution in MILC's convention is
// S x(S b) with S = (-1)^(t(x+y+z)): diagonal and exact (milc_phase_sign).
#pragma once

#include <array>
#include <string>

#include "halo/lattice.hpp"

namespace staghorn {

// A field picks up exp(i pi theta[mu]) when it is carried across the global boundary in direction +mu:
// theta = 0 periodic, 1 antiperiodic. D uses exp(+i pi theta) U at the forward hop across it and the conjugate
// backward.
struct Boundary {
  std::array<double, 4> theta{0, 0, 0, 1};
  bool operator==(const Boundary&) const = default;
};

// "px,py,pz,pt", each "periodic", "antiperiodic" or a number in units of pi. Throws Error.
Boundary parse_boundary(const std::string& text);
std::string to_string(const Boundary& boundary);

// eta_mu(x) = +1 or -1; only the parity of the coordinates matters.
constexpr int staggered_phase(int mu, const Coordinates& x) {
  int exponent = 0;
  for (int nu = 0; nu < mu; ++nu) exponent += x[nu];
  return exponent & 1 ? -1 : 1;
}

constexpr int milc_phase_sign(const Coordinates& x) { return (x[3] * (x[0] + x[1] + x[2])) & 1 ? -1 : 1; }

}  // namespace staghorn
