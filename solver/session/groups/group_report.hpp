// What a group tells of the right-hand sides that it solved, and one report of what all groups tell.
#pragma once

#include <string>
#include <vector>

#include "solver/report/solve_report.hpp"
#include "solver/session/groups/job_groups.hpp"

namespace staghorn {

// Of one group, so far.
struct GroupReport {
  std::vector<std::size_t> numbers{};  // of the right-hand sides that are done, among those of the job
  std::vector<RhsReport> rhs{};        // of these
  SolveReport whole{};                 // of the solves; their right-hand sides are above
  // The report of another solve of this group.
  void add(SolveReport&& report);
};

// One report, the same on all ranks but for what belongs to a machine, which is that of this group. Collective over the
// job.
SolveReport merged_report(const JobGroups& groups, GroupReport&& mine, std::size_t n_rhs);

}  // namespace staghorn
