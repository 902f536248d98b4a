// Gauge-invariant numbers of a configuration and the checks a solver asks for first. fp64, plain path; collective.
// Every sum over sites is exact (ExactSum), so the result has the same bits on every process grid.
#pragma once

#include <complex>
#include <cstdint>
#include <span>
#include <vector>

#include "dirac/fields/site_field.hpp"
#include "halo/communicator.hpp"

namespace staghorn {

struct Plaquette {
  double all = 0, space = 0, time = 0;  // mean Re tr U_P / 3 over all / space-space / space-time plaquettes
};

Plaquette plaquette(const Communicator& communicator, const LinkField& links);
// Returns the means from what each local site contributes, in any order of sites: Re tr U_P summed over the planes xy,
// xz, yz (space), and over xt, yt, zt (time). Collective.
Plaquette mean_plaquette(const Communicator& communicator, const Lattice& lattice, std::span<const double> space,
                         std::span<const double> time);

// Returns the mean of tr P(x) / 3 over all sites x, P(x) the product of the links along a path from x back to x. The
// steps of the path: mu for U_mu at its site, and -1 - mu for U_mu^dagger of the site behind. Each step costs a product
// of matrices a site, and a slice of matrices travels where mu is cut. Throws Error of kind `argument` for a path that
// does not close. Collective.
std::complex<double> loop_trace(const Communicator& communicator, const LinkField& links,
                                std::span<const std::int32_t> path);

// Mean of tr U_mu(x) / 3 over sites and directions.
std::complex<double> link_trace(const Communicator& communicator, const LinkField& links);

struct UnitarityCheck {
  double max_deviation = 0;              // max over links and elements of |(U U^dagger - 1)_ij|
  double max_determinant_deviation = 0;  // max |det U - 1|
  bool finite = true;                    // no NaN or infinity
};
// Links on the host or on a GPU, as of reunitarize.
UnitarityCheck check_unitarity(const Communicator& communicator, const LinkField& links);

// Projects every link onto SU(3): Gram-Schmidt on the first two rows, third row their conjugate cross product. Local.
void reunitarize(LinkField& links);

}  // namespace staghorn
