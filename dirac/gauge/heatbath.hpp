// Quenched SU(3) gauge configurations: starts, and sweeps of heatbath and over-relaxation with Wilson's plaquette
// action, S = beta sum_P (1 - Re tr U_P / 3), periodic in all directions.
//
// Random numbers are keyed by (seed, sweep, global site, direction, subgroup, draw), and links are updated by parity
// and direction with everything they depend on at rest: the same bits on every process grid and number of threads.
// fp64.
#pragma once

#include <cstdint>

#include "dirac/fields/site_field.hpp"
#include "halo/communicator.hpp"

namespace staghorn {

// Every link the unit matrix. Local.
void set_cold(LinkField& links);

// Every link an independent random element of SU(3), uniform in the Haar measure. In the memory of a GPU it
// is made there. Local.
void set_hot(LinkField& links, std::uint64_t seed);

struct HeatbathParameters {
  double beta = 0;  // 6 / g^2, >= 0
  std::uint64_t seed = 0;
  int overrelaxation_steps = 4;  // after each heatbath step
};

// Throws Error where beta or the number of steps makes no sense. Local.
void check(const HeatbathParameters& parameters);

// One heatbath update of every link by the three SU(2) subgroups (Kennedy & Pendleton 1985; Cabibbo & Marinari 1982),
// then `overrelaxation_steps` microcanonical updates (Brown & Woch 1987), then projection back onto SU(3) to rounding.
// `sweep` numbers the sweeps of a chain: n sweeps in one go or in two parts with the numbers continued give the same
// links. Collective.
void heatbath_sweep(const Communicator& communicator, LinkField& links, const HeatbathParameters& parameters,
                    std::uint32_t sweep);

}  // namespace staghorn
