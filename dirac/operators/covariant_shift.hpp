// Covariant shifts of plain vectors along one direction, with boundary phases as in the operator.
#pragma once

#include "dirac/fields/site_field.hpp"
#include "dirac/stencil/boundary.hpp"
#include "halo/communicator.hpp"

namespace staghorn {

// Returns (1/2) eta_mu(x) [U_mu(x) in(x+mu) + U_mu(x-mu)^dagger in(x-mu)]. `links` carry no phases, and the vector is
// in the phases of CPS; both lie on the host. Faces of other ranks are fetched. The same bits on every process grid.
// Collective.
VectorField symmetric_shift(const Communicator& communicator, const LinkField& links, const Boundary& boundary,
                            const VectorField& in, int mu);

// Returns U_mu(x) in(x+mu) for `step` = mu, U_mu(x-mu)^dagger in(x-mu) for `step` = -1 - mu, with the boundary phase
// but no staggered one. The rest as above. Collective.
VectorField covariant_step(const Communicator& communicator, const LinkField& links, const Boundary& boundary,
                           const VectorField& in, int step);

// Returns [1 - w^2 / (16 n) (6 - sum over x, y, z of both hops over two links)]^n in, with w the width and n the steps:
// on each time slice a Gaussian, exp(-r^2 / w^2) for many steps and wide ones, whose hops keep a staggered quark's
// corner of the 2^3 cube. Without staggered phases, as those of two hops in one direction cancel. n >= 3 w^2 / 8, else
// modes grow. The rest as above. Collective. [S. Gusken et al., Phys. Lett. B227 (1989) 266]
VectorField gaussian_smeared(const Communicator& communicator, const LinkField& links, const Boundary& boundary,
                             const VectorField& in, double width, int steps);

}  // namespace staghorn
