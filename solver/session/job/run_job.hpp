// Runs a job batch after batch, and makes one report of it. Private to session/. Collective throughout.
#pragma once

#include <cstddef>
#include <span>

#include "solver/checkpoint/checkpoints.hpp"
#include "solver/gauge/gauge.hpp"
#include "solver/krylov/cg_progress.hpp"
#include "solver/report/solve_report.hpp"
#include "solver/session/passes/certified_solve.hpp"

namespace staghorn {

// What is solved: a job, or one batch of it. Sources and solutions are in CPS phases, all on the host or all on the
// context's GPU, where they stay. `solutions` are masses times sources, mass by mass. All of it was checked, and |b|^2
// is in range (passes/scaled_sources.hpp).
struct BatchWork {
  const SolveRequest& request;
  std::span<const VectorField> sources;
  std::span<const double> b2;  // on the sites of the system
  std::span<VectorField> solutions;
  const ShowProgress& progress;
  const bool* interrupted = nullptr;   // see CgStop
  Checkpoints* checkpoints = nullptr;  // of the job
  std::size_t first_solution = 0;      // several masses: the place of theirs among the solutions of the job
};

// `job.checkpoints`: of a larger job that this one is a part of; without them the job has its own, if the request says
// so. Links of several epsilons come one after the other, and are those of before in the end. Throws Error where the
// solver or the links cannot do what is asked.
SolveReport run_job(Gauge& gauge, const BatchWork& job);

// Of one batch: what its passes work with, once the workbench is prepared.
CertifiedWork certified_work(Gauge& gauge, const BatchWork& batch);

// From the guesses in `solutions`, for the mass of the request.
SolveReport solve_one_mass(Gauge& gauge, const BatchWork& batch);
// From zero, for all its masses.
SolveReport solve_masses(Gauge& gauge, const BatchWork& batch);

}  // namespace staghorn
