// Covariant shifts of plain vectors along one direction, with boundary phases as in the operator.
#pragma once

#include "dirac/fields/site_field.hpp"
#include "dirac/operators/weighted_paths.hpp"
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

// Takes a vector along the paths, by covariant_step, the last step of each first. The rest as above. Collective.
VectorField transported(const Communicator& communicator, const LinkField& links, const Boundary& boundary,
                        const WeightedPaths& paths, VectorField in);

}  // namespace staghorn
