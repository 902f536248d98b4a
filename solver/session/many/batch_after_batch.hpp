// Many sources for solvers whose right-hand sides cannot take turns: block CG, many masses, the baseline. Private to
// this folder.
#pragma once

#include <functional>

#include "solver/request/source_list.hpp"
#include "solver/session/many/part_of_job.hpp"
#include "solver/session/many/solve_many.hpp"
#include "solver/session/session.hpp"

namespace staghorn {

// Solves batch after batch, of like size and of at most `batch` right-hand sides. `take` gets each solution,
// on the host, in the phases of the sources; `number` counts masses times sources, mass by mass. `again` gets those
// that were done before the job went on, by a checkpoint, which `sink` keeps. Returns the report without what is known
// of sources, of the batches of `part` alone. Collective.
SolveReport solve_batch_after_batch(Session& session, const SolveRequest& request, int batch, const SourceList& sources,
                                    SolutionSink* sink, const TakeSolution& take, const TakeSolution& again,
                                    const std::function<void(const CgProgress&)>& progress, PartOfJob& part);

}  // namespace staghorn
