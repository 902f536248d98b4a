// Fat and long links that carry signs of which nobody says more: staggered phases of any convention and origin, and
// boundary signs at any slice.
//
// The determinants of fat links do not tell every sign, for they scatter around it. So the signs are sought in the form
// that all conventions share,
//
//   V_mu(x) = S(x) eta_mu(x) w_mu(x) F_mu(x) S(x+mu),   S(x) = prod_mu G_mu(x_mu) (-1)^(sum_mu<nu q_mu_nu x_mu x_nu),
//
// eta those of CPS and w_mu = +-1 on the last slice: in every slice of every direction, most determinants have the sign
// that these say. The counts are integers, so every process grid finds the same.
#pragma once

#include <array>

#include "solver/interface/layouts/given_phases.hpp"

namespace staghorn {

// Takes the signs out of `fat` and, unless it is nullptr, of `naik`, whose links lead over three steps, where they are
// of that form. Otherwise multiplies both by eta_mu(x), so that D with CPS phases and periodic boundaries is the host's
// operator (`only_signs` false). Both are exact. Throws Error where the signs have the form but for the flux of
// staggered phases, naming the plane. Collective.
GivenPhases take_out_pair_signs(const Communicator& communicator, LinkField& fat, LinkField* naik);

// Whether fat links without phases and boundary signs carry signs of that form still. `twisted`: directions in which a
// phase that is no sign stays in the links of the last slice. False where determinants tell no signs, as on
// configurations without order. Collective.
bool has_pair_signs(const Communicator& communicator, const LinkField& fat, const std::array<bool, 4>& twisted);

}  // namespace staghorn
