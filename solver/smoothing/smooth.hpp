// Smoothing, gauge fixing and measuring a configuration. Program and Python run the same.
#pragma once

#include <functional>
#include <string>

#include "dirac/fields/site_field.hpp"
#include "halo/communicator.hpp"
#include "solver/report/smooth_report.hpp"

namespace staghorn {

// What a caller is told meanwhile, on every rank; what it throws ends the work.
struct SmoothWatch {
  std::function<void()> step_begins;                      // of a flow, of smearing, or a sweep of gauge fixing
  std::function<void(const GaugeMeasurement&)> measured;  // of a flow
};

// The GPU of this rank for a request's `device`: auto, cpu, cuda or cuda:n; -1 for the host. A flow and stout smearing
// run on GPUs, where every rank has one with memory enough; other methods on the host. Throws Error naming the option
// where a GPU is asked for that cannot be used. Collective.
int device_for(const Communicator& communicator, const Lattice& lattice, const SmoothSetting& setting,
               const std::string& device);

// Smooths or fixes `links`, which lie on the host, in place, and measures them before and after. The report lacks what
// the caller knows: gauge and output. fp64, on the GPU `cuda_device` (of device_for), or on the host's threads: links
// and numbers have the same bits on every process grid, number of threads and device. Throws Error for a Wilson loop
// that is larger than the lattice, for a flow whose step is too long to be stable, and for smeared links that are not
// finite or have no projection onto SU(3). Collective.
SmoothReport smooth(const Communicator& communicator, LinkField& links, const SmoothSetting& setting, int cuda_device,
                    const SmoothWatch& watch = {});

}  // namespace staghorn
