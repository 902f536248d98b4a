// The machine that this process runs on: as `staghorn plan` sees machines, and its caches, so that a measurement can
// say when it is one of a cache and not of the memory.
#pragma once

#include <optional>

#include "halo/communicator.hpp"
#include "solver/machine/machine_model.hpp"

namespace staghorn {

// The CPUs of this host: one rank for each NUMA domain, which has an equal share of the threads that OpenMP would start
// here, of the memory that is available now, and of the streaming read, in bytes per second of the host. The read is
// measured with these threads, in about a second, unless `stream` gives it. The rest is assumed (assumed_cpus).
// Collective.
Machine this_machine(const Communicator& communicator, std::optional<double> stream);

// Bytes of the caches of the last level of all ranks together: of each host once, or of the GPU of each rank
// (`cuda_device` >= 0). 0 where a host does not tell. Collective. Throws Error where CUDA fails.
double last_level_cache(const Communicator& communicator, int cuda_device);

// Whether the bytes that one call moves at least, `gb_s` for `microseconds`, fit into `cache` bytes; false if the cache
// is not known. Local.
bool fits_into_cache(double gb_s, double microseconds, double cache);

}  // namespace staghorn
