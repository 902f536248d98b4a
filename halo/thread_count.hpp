// How many OpenMP threads each rank should run, so that the ranks of one host share its cores; and what to say where
// a launcher's bindings leave cores idle.
#pragma once

#include <string>

#include "halo/communicator.hpp"

namespace staghorn {

// Threads for this rank: OMP_NUM_THREADS if it is set on any rank. Otherwise the smaller of two numbers: the cores this
// rank may use, and its share of the cores that all ranks of its host may use. At least 1. Collective.
int sensible_thread_count(const Communicator& communicator);

// A sentence for the user if the ranks of a host are bound to fewer of its cores than they could have, or run more
// threads than the cores they are bound to: how many, and how to start them instead. "" if all is well, or if neither
// mpirun, nor Hydra, nor srun started them. `threads`: of this rank. Tells of the first such host. Collective.
std::string advice_on_binding(const Communicator& communicator, int threads);

}  // namespace staghorn
