// Fills the table of where the time of hops goes (time_rows.hpp), over all ranks, and writes it as JSON.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "dirac/operators/staggered_operator.hpp"
#include "solver/report/time_rows.hpp"

namespace staghorn {

// `times` of `d`'s ranks, and of hops that it shares the work with. Where kernels store faces straight into ghosts
// nothing is known but `all_seconds`, which hops and sums took together. Collective.
TimeTable time_table(StaggeredOperator& d, const CommunicationTimes& times, double all_seconds);

nlohmann::ordered_json to_json(const TimeTable& table);  // [{phase, seconds, slowest, hidden_share, note}]

}  // namespace staghorn
