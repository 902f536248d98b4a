// In words: what a solve reached, why it may have stopped short, and what to do about it.
#pragma once

#include <string>

#include "solver/report/solve_report.hpp"

namespace staghorn {

// "" for a certified report, otherwise a sentence or two about the right-hand side that did worst. Local.
std::string explain(const SolveReport& report);

// Outcome and explanation of a report from those of its right-hand sides. Local.
void conclude(SolveReport& report);

}  // namespace staghorn
