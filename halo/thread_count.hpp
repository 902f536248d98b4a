// How many OpenMP threads each rank should run, so that the ranks of one host share its cores instead of fighting.
#pragma once

#include "halo/communicator.hpp"

namespace staghorn {

// Threads for this rank: OMP_NUM_THREADS if it is set; otherwise the cores this rank may use, or its share of the cores
// that the ranks of its host may use together, whichever is smaller. At least 1. Collective; throws on MPI failure.
int sensible_thread_count(const Communicator& communicator);

}  // namespace staghorn
