// Correlators and condensates as text, for people. Local.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "solver/report/solve_report.hpp"

namespace staghorn {

// C(t) of one mass and source, on one configuration or averaged over several.
struct CorrelatorColumn {
  std::string title;           // "m = 0.05, wall:0"
  std::vector<double> values;  // of each time slice
  std::vector<double> errors;  // likewise; empty: one configuration
};

// A line for each time slice, and a few columns beside each other; the first 12 columns, and how many are left out.
void print_correlators(std::ostream& out, const std::vector<CorrelatorColumn>& columns);

// Correlators and condensates of a report, with the masses and sources of those.
void print_observables(std::ostream& out, const SolveReport& report);

}  // namespace staghorn
