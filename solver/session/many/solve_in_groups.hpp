// A job of many sources in groups of ranks: who solves what, and what becomes of a part whose group fails. Private to
// this folder. Collective over the job.
#pragma once

#include <functional>
#include <set>

#include "solver/request/source_list.hpp"
#include "solver/session/groups/job_groups.hpp"
#include "solver/session/many/part_of_job.hpp"
#include "solver/session/session.hpp"

namespace staghorn {

// What decides which right-hand sides one group must solve together.
struct ManyPieces {
  const SolveRequest& request;
  const SourceList& sources;
  std::size_t batch = 0;  // of solvers that iterate a batch together; 0: sources take turns
  bool shares_updates =
      false;  // sources that take turns otherwise would share their updates, without a batch asked for
};

// Deals the pieces among the groups. Each group calls `solve` for its part. `written`: numbers of the solutions that
// this group has handed on, and then those of groups that failed, which are not to be handed on again. Where that
// throws, the right-hand sides that it has not finished go to other groups. What fails there too ends the job with that
// Error, and so does an Error of files. Returns one report. Throws Error where there are fewer pieces than groups,
// saying what cannot be split.
SolveReport solve_in_groups(const JobGroups& groups, Session& session, const SolveRequest& request,
                            const ManyPieces& pieces, std::set<std::size_t>& written,
                            const std::function<SolveReport(const SolveRequest&, PartOfJob&)>& solve);

}  // namespace staghorn
