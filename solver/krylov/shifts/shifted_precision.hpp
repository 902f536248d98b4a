// In which precision the iterations of multi-shift CG run, where a session has two. Local throughout.
#pragma once

#include <span>

#include "halo/lattice.hpp"
#include "solver/request/solve_request.hpp"

namespace staghorn {

// Whether they run in the sloppy precision: it is fp32, and by the iterations of free quarks that pays.
//   - The smallest mass needs few iterations beside the unknowns of a parity. Otherwise CG is done because it exhausts
//     the spectrum; rounding then costs more iterations than fp32 saves time.
//   - All masses together need few iterations beside the smallest one, for each has up to half of its own to polish.
// `deflated`: the largest eigenvalue of -D^2 whose mode is taken out, as a mass; 0 where there is none.
bool shifts_run_in_sloppy(const SessionOptions& options, const Extents& lattice, std::span<const double> masses,
                          double deflated, double tolerance);

// Options of the operator that these iterations read.
SessionOptions shifted_options(const SessionOptions& options, bool in_sloppy);

// |rounding of A x| / |x| of kernels in this precision: iterations to a smaller residual gain nothing any more.
double rounding_of_products(Precision precision);

}  // namespace staghorn
