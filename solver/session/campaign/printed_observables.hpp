// Observables as text, for people. Local.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "solver/report/solve_report.hpp"

namespace staghorn {

// A curve of one mass and source, on one configuration or averaged over several.
struct CurveColumn {
  std::string title;           // "m = 0.05, wall:0"
  std::vector<double> values;  // of each time slice
  std::vector<double> errors;  // likewise; empty: one configuration
};

// A line for each time slice, and a few columns beside each other; the first 12 columns, and how many are left out.
void print_curves(std::ostream& out, const ObservableKind& kind, const std::vector<CurveColumn>& columns);

// The observables of a report, with their masses and sources.
void print_observables(std::ostream& out, const SolveReport& report);

}  // namespace staghorn
