// How many OpenMP threads each rank should run, so that the ranks of one host share its cores.
#pragma once

#include "halo/communicator.hpp"

namespace staghorn {

// Threads for this rank: OMP_NUM_THREADS if it is set on any rank. Otherwise the smaller of two numbers: the cores this
// rank may use, and its share of the cores that all ranks of its host may use. At least 1. Collective.
int sensible_thread_count(const Communicator& communicator);

}  // namespace staghorn
