// Landau and Coulomb gauge by over-relaxation [Mandula & Ogilvie, Phys. Lett. B248 (1990) 156].
//
// Both maximise the functional F = mean of Re tr U_mu(x) / 3 over links of the directions of the gauge.
#pragma once

#include "dirac/fields/site_field.hpp"
#include "halo/communicator.hpp"

namespace staghorn {

enum class GaugeCondition { coulomb = 3, landau = 4 };  // the number of directions

// How far links are in a gauge. With Delta(x) = sum_mu [A_mu(x) - A_mu(x-mu)] and A_mu = (U_mu - U_mu^dagger) / 2i
// without its trace, theta = mean over sites of tr Delta^2 / 3, which vanishes at a maximum of F.
struct GaugeFunctional {
  double functional = 0, theta = 0;
};

// fp64, exact sums: the same bits on every process grid and number of threads. Collective.
GaugeFunctional gauge_functional(const Communicator& communicator, const LinkField& links, GaugeCondition condition);

// Transforms all even sites, then all odd ones, U_mu(x) = g(x) U_mu(x) g(x+mu)^dagger, so that F grows: for each SU(2)
// subgroup g is the best rotation h to the power `relaxation`, to first order: 1 + relaxation (h - 1), made unitary.
// `relaxation` is from 1 (the best rotation) to below 2. Then projects the links onto SU(3), as rounding would grow
// with the sweeps. Bits as above. Collective.
void relaxation_sweep(const Communicator& communicator, LinkField& links, GaugeCondition condition, double relaxation);

}  // namespace staghorn
