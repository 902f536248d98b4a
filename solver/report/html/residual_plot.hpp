// How solves converged: all right-hand sides of all reports in one plot. Local.
#pragma once

#include <string>

#include "solver/report/html/report_tables.hpp"

namespace staghorn {

// HTML: a curve for each right-hand side, a cross for its recomputed residual, dashed tolerances; "" without histories.
// A curve that begins above 1 is divided by its first value, and so are its cross and its tolerance: a full system
// starts from b / 2m on the sites that CG does not solve for, where noise has a residual far above |b|.
std::string residual_plot(const Reports& solves);

}  // namespace staghorn
