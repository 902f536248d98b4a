// The links of improved quarks made on a GPU, with the bits of the host (improved_links.hpp calls this).
//
// A rank's links lie in a box with rims: in each direction that is cut, the links of one site beyond (first level of
// HISQ) or two (second level, asqtad), corners included. Each rank computes by itself the paths that begin in its rims,
// so that links travel once for each level, through host memory, and no staple does.
#pragma once

#include <optional>

#include "dirac/gauge/improved_links.hpp"

namespace staghorn {

// `thin` and the result lie on the host. `first_level`: the group onto which HISQ projects Fat7(U); none for asqtad,
// whose paths are made of thin links. `weights` of the level that gives the fat links. Two kernels of it smear a link
// in registers from the sums of 3 and of 5 links, so that a level moves some 20 kB a site and takes 62 kflop. Throws
// Error as project_links does, where memory or kernels fail, and where this build has no CUDA. Collective.
ImprovedLinks cuda_improved_links(const Communicator& communicator, const LinkField& thin,
                                  const std::optional<Unitarize>& first_level, const SmearingWeights& weights,
                                  double naik_weight);

// Bytes that it takes at once on this rank's GPU. Local.
double cuda_improved_links_bytes(const Lattice& lattice);

}  // namespace staghorn
