// The machine that this process runs on, as `staghorn plan` sees machines. Collective.
#pragma once

#include <optional>

#include "halo/communicator.hpp"
#include "solver/machine/machine_model.hpp"

namespace staghorn {

// The CPUs of this host: one rank for each NUMA domain, which has an equal share of the threads that OpenMP would start
// here, of the memory that is available now, and of the streaming read, in bytes per second of the host. The read is
// measured with these threads, in about a second, unless `stream` gives it. The rest is assumed (assumed_cpus).
Machine this_machine(const Communicator& communicator, std::optional<double> stream);

}  // namespace staghorn
