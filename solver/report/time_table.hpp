// Fills the table of where the time of hops goes (solve_report.hpp), over all ranks, and writes it as JSON.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "dirac/operators/staggered_operator.hpp"
#include "solver/report/solve_report.hpp"

namespace staghorn {

// The table from `times`, the times of the ranks of `d` and of the operators that share its work. Where kernels store
// faces straight into ghosts, the parts are not known; then the table has one row, `all_seconds`, the time that hops
// and sums took together. Collective.
TimeTable time_table(StaggeredOperator& d, const CommunicationTimes& times, double all_seconds);

nlohmann::ordered_json to_json(const TimeTable& table);  // [{phase, seconds, slowest, hidden_share, note}]

}  // namespace staghorn
