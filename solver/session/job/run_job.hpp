// Runs a job batch after batch, and makes one report of it. Private to session/. Collective.
#pragma once

#include "solver/session/job/solve_batch.hpp"

namespace staghorn {

// `job.checkpoints`: of a larger job that this one is a part of; without them the job has its own, if the request says
// so. Links of several epsilons come one after the other, and are those of before in the end. Throws Error where the
// solver or the links cannot do what is asked.
SolveReport run_job(Gauge& gauge, const BatchWork& job);

}  // namespace staghorn
