// What the passes of a solve remember of each right-hand side, and its way into a checkpoint and back. Private to this
// folder.
#pragma once

#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "solver/krylov/kept_rhs.hpp"
#include "solver/report/solve_report.hpp"

namespace staghorn {

// What the passes remember of one right-hand side.
struct PassMemory {
  std::optional<Outcome> outcome;  // set when the right-hand side is done
  double previous_residual = std::numeric_limits<double>::infinity();
  double previous_hq = std::numeric_limits<double>::infinity();
  bool broke_down = false;
  int passes = 0;        // that CG has made
  bool gave_up = false;  // CG stagnated in the last one
  bool patient = false;  // CG is given longer to stand
};

// As lists of numbers, with what the reports say so far; and back. `get_passes` fills vectors of the right length, and
// throws Error where a list is absent or has another length. Local.
void put_passes(SearchNumbers& numbers, const std::vector<PassMemory>& memory, const std::vector<RhsReport>& reports);
void get_passes(const SearchNumbers& numbers, std::vector<PassMemory>& memory, std::vector<RhsReport>& reports);

// Whole reports of right-hand sides that are done, as lists whose names begin with `prefix`, and back: all but the name
// and colour of the source. `get_reports` throws Error as get_passes does. Local.
void put_reports(SearchNumbers& numbers, const std::string& prefix, std::span<const RhsReport> reports);
std::vector<RhsReport> get_reports(const SearchNumbers& numbers, const std::string& prefix, std::size_t n);

}  // namespace staghorn
