// APE and HYP smearing. Stout smearing is GradientFlow::euler_step.
#pragma once

#include <array>

#include "dirac/fields/site_field.hpp"
#include "halo/communicator.hpp"

namespace staghorn {

// U_mu = Proj[(1 - alpha) U_mu + (alpha / 2(d-1)) sum of the staples in the other of the d `directions`] for mu below
// `directions`: 4, or 3 for links in space [Albanese et al., Phys. Lett. B192 (1987) 163]. Proj is the nearest matrix
// in U(3) times the root of its determinant nearest to 1. fp64; the same bits on every process grid and number of
// threads. Throws Error where a link has no projection. Collective.
LinkField ape_smeared(const Communicator& communicator, const LinkField& links, double alpha, int directions);

// Hypercubic smearing: three levels of APE smearing whose staples stay in the hypercubes of a link, with alpha_1 of the
// last level, alpha_2, and alpha_3 of the first [Hasenfratz & Knechtli, hep-lat/0103029]. Proj as above. Takes 4600
// bytes a site. Collective.
LinkField hyp_smeared(const Communicator& communicator, const LinkField& links, const std::array<double, 3>& alpha);

}  // namespace staghorn
