// Kernels of `staghorn bench` under the roof of the memory: a plot, and their table. Local.
#pragma once

#include "solver/report/html/report_tables.hpp"

namespace staghorn {

// HTML of bench reports.
std::string roofline(const Reports& benches);

}  // namespace staghorn
