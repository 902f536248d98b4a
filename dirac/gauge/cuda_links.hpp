// Random starts, checks and projections of plain links in the memory of a GPU (LinkField with MemorySpace::cuda), which
// the functions of heatbath.hpp and gauge_observables.hpp call there. Results have the bits of the host.
//
// Local. Each function returns when its work is done. Throws Error where a launch fails, or where this build has no
// CUDA.
#pragma once

#include <array>
#include <cstdint>

#include "dirac/fields/site_field.hpp"

namespace staghorn {

// The largest squared deviations of link_deviation.hpp: of unitarity, and of the determinant. NaN where one is NaN.
struct Deviations2 {
  double unitarity = 0, determinant = 0;
};
Deviations2 cuda_largest_deviations2(const LinkField& links);

// Every link an independent random element of SU(3), as set_hot.
void cuda_set_hot(LinkField& links, std::uint64_t seed);

// Projects every link onto SU(3), as reunitarize.
void cuda_reunitarize(LinkField& links);

// Multiplies the links of each direction by a factor.
void cuda_scale_directions(LinkField& links, const std::array<double, 4>& factors);

}  // namespace staghorn
