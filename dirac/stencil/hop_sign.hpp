// The sign of a hop's term in the kernels: the staggered phase, and the boundary where the hop crosses it. Host and
// device. (The plain operator has a text of its own: it is the judge of this one.)
#pragma once

#include "dirac/algebra/su3.hpp"

namespace staghorn {

// A boundary condition exp(i pi theta) is a sign that kernels apply as such, or a phase: theta = 0 is periodic.
constexpr bool is_antiperiodic(double theta) { return theta == 1; }
constexpr bool is_phase(double theta) { return theta != 0 && theta != 1; }

// Whether the term of a hop from x along mu has a minus: eta_mu(x) = (-1)^(x_0 + ... + x_(mu-1)), turned where the hop
// crosses an antiperiodic boundary. Only the parity of the coordinates matters.
template <class X>
STAGHORN_INLINE bool hop_is_negative(int mu, const X& x, bool crosses_antiperiodic) {
  int exponent = 0;
  STAGHORN_UNROLL
  for (int nu = 0; nu < 3; ++nu) exponent += nu < mu ? x[nu] : 0;
  return bool(exponent & 1) ^ crosses_antiperiodic;
}

}  // namespace staghorn
