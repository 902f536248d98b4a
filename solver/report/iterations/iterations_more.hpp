// About how many more iterations a search would have taken that ended at a limit.
#pragma once

#include <optional>

#include "solver/report/solve_report.hpp"

namespace staghorn {

// To the tolerances of right-hand side `i`, at the rate of the second half of its iterations, or at that which CG's
// coefficients foresee, if that is faster: |r| of light masses stands for long before it falls. Nothing where it did
// not end at a limit, or where its iterations are too few to tell. Local.
std::optional<long> iterations_more(const SolveReport& report, std::size_t i);

}  // namespace staghorn
