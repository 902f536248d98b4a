// One report of what is solved batch after batch. Local.
#pragma once

#include <vector>

#include "solver/report/solve_report.hpp"
#include "solver/session/job/job_plan.hpp"

namespace staghorn {

class Tally {
 public:
  // Adds what another batch came to, all but its right-hand sides: seconds, the most memory, the spectrum.
  void add(SolveReport&& part);
  // The report, with these right-hand sides.
  SolveReport report(std::vector<RhsReport>&& rhs);

 private:
  SolveReport whole_;
  double work_ = 0;  // of all batches, in site iterations
};

// How full the groups were, from the reports of all right-hand sides.
BatchSummary summary_of(const SourceGroups& groups, const std::vector<RhsReport>& rhs);

}  // namespace staghorn
