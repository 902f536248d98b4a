// Links that carry phases of which nobody says more: staggered phases of any convention and origin, boundary signs at
// any slice, twists, U(1) factors.
//
// The determinants of the links know them. With d_mu(x) = det V_mu(x) / |det V_mu(x)|, the flux of d around every
// plaquette is -1 for any staggered phases, and boundary signs and gauge changes S(x) = +-1 leave it alone. Where every
// d is +-1 and every flux is -1, the signs are
//
//   V_mu(x) = S(x) eta_mu(x) w_mu(x) U_mu(x) S(x+mu),     det U > 0, eta those of CPS,
//
// with w_mu = exp(i pi theta_mu) = +-1 on the last slice of direction mu and 1 elsewhere. S is found by walking from
// the origin, S = 1 there, and is the only one.
#pragma once

#include <array>
#include <vector>

#include "dirac/fields/site_field.hpp"
#include "dirac/stencil/boundary.hpp"
#include "halo/communicator.hpp"

namespace staghorn {

struct GivenPhases {
  Boundary boundary;               // of D with the links that are left
  std::vector<signed char> signs;  // S of each local site: the host's vectors are S times ours; empty: 1 everywhere
  bool only_signs = true;          // the links carried signs only, and carry none now
};

// Takes the signs out of `links` where they carry signs only. Otherwise multiplies them by eta_mu(x), so that D with
// CPS phases and periodic boundaries is the host's operator: the links then stay in U(3). Both are exact. Throws Error
// where a link is singular or not finite, and where the flux of a plaquette is more than a quarter turn away from -1;
// the message names the link whose six plaquettes are wrong, or the plaquette. The message and the signs are the same
// on every process grid. Collective.
GivenPhases take_out_phases(const Communicator& communicator, LinkField& links);

// Fat and long links. The determinants of fat links do not tell every sign, for they scatter around it. So the signs
// are sought in the form that all conventions share,
//
//   V_mu(x) = S(x) eta_mu(x) w_mu(x) F_mu(x) S(x+mu),   S(x) = prod_mu G_mu(x_mu) (-1)^(sum_mu<nu q_mu_nu x_mu x_nu),
//
// eta those of CPS and w_mu = +-1 on the last slice: in every slice of every direction, most determinants have the sign
// that these say. The counts are integers, so every process grid finds the same.

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
