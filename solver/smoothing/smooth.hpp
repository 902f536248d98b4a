// Smoothing, gauge fixing and measuring a configuration. Program and Python run the same.
#pragma once

#include <functional>

#include "dirac/fields/site_field.hpp"
#include "halo/communicator.hpp"
#include "solver/report/smooth_report.hpp"

namespace staghorn {

// What a caller is told meanwhile, on every rank; what it throws ends the work.
struct SmoothWatch {
  std::function<void()> step_begins;                      // of a flow, of smearing, or a sweep of gauge fixing
  std::function<void(const GaugeMeasurement&)> measured;  // of a flow
};

// Smooths or fixes `links` in place, and measures them before and after. The report lacks what the caller knows: gauge
// and output. fp64 on the host's threads; links and numbers have the same bits on every process grid and number of
// threads. Throws Error for links that are not in SU(3), a Wilson loop that is larger than the lattice, and smeared
// links that have no projection onto SU(3). Collective.
SmoothReport smooth(const Communicator& communicator, LinkField& links, const SmoothSetting& setting,
                    const SmoothWatch& watch = {});

}  // namespace staghorn
