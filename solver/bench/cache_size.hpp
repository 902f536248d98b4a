// How large the caches are, so that a measurement can say when it is one of a cache and not of the memory.
#pragma once

#include "halo/communicator.hpp"

namespace staghorn {

// Bytes of the caches of the last level of all ranks together: of each host once, or of the GPU of each rank
// (`cuda_device` >= 0). 0 where a host does not tell. Collective. Throws Error where CUDA fails.
double last_level_cache(const Communicator& communicator, int cuda_device);

// Whether the bytes that one call moves at least, `gb_s` for `microseconds`, fit into `cache` bytes; false if the cache
// is not known. Local.
bool fits_into_cache(double gb_s, double microseconds, double cache);

}  // namespace staghorn
