// What a solve reached, in words: why it may have stopped short, how far it was from the end, and what to do about it.
#pragma once

#include <optional>
#include <string>

#include "solver/report/solve_report.hpp"

namespace staghorn {

// "" for a certified report, otherwise a sentence or two about the right-hand side that did worst. Local.
std::string explain(const SolveReport& report);

// Outcome and explanation of a report from those of its right-hand sides. Local.
void conclude(SolveReport& report);

// About how many more iterations a search would have taken that ended at a limit: to the tolerances of right-hand side
// `i`, at the rate of the second half of its iterations, or at that which CG's
// coefficients foresee, if that is faster: |r| of light masses stands for long before it falls. Nothing where it did
// not end at a limit, or where its iterations are too few to tell. Local.
std::optional<long> iterations_more(const SolveReport& report, std::size_t i);

}  // namespace staghorn
