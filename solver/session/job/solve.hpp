// The certified solve of a gauge: what sessions and the C interface call. Collective.
#pragma once

#include <functional>
#include <span>

#include "solver/checkpoint/checkpoints.hpp"
#include "solver/gauge/gauge.hpp"
#include "solver/krylov/cg_progress.hpp"
#include "solver/report/solve_report.hpp"

namespace staghorn {

// How a solve differs from one of the program.
struct SolveHabits {
  bool zero_source_is_a_result = false;  // x = 0 and certified; otherwise Error
  const bool* interrupted = nullptr;     // see CgStop
  Checkpoints* checkpoints = nullptr;    // of the job that this solve is a part of, instead of its own
};

// Solves for every source, from the guesses in `solutions` (zero fields for none). With request.masses for every mass
// and source, mass by mass, and from zero: what `solutions` hold at first does not count then. The report has an entry
// for each of them, in this order. Of a parity system solutions are zero on the other sites. Sources and solutions have
// the phases of the request. They lie on the host or, all of them, on the context's GPU, and stay there.
SolveReport solve(Gauge& gauge, const SolveRequest& request, std::span<const VectorField> sources,
                  std::span<VectorField> solutions, const ShowProgress& progress = {}, const SolveHabits& habits = {});

}  // namespace staghorn
