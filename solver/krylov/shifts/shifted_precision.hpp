// In which precision the iterations of multi-shift CG run, where a session has two. Local throughout.
#pragma once

#include <span>

#include "halo/lattice.hpp"
#include "solver/request/solve_request.hpp"

namespace staghorn {

// Of a session in fp64 and fp32:
enum class ShiftedPrecision {
  precise,
  sloppy,               // each mass leaves them where rounding ends them, and is polished
  precise_then_sloppy,  // fp32 as soon as its rounding spoils nothing any more: next to nothing is left to polish
};

// Which of them is fastest, by the iterations of free quarks:
//   - precise where the smallest mass needs many iterations beside the unknowns of a parity. CG is done because it
//     exhausts the spectrum; rounding then costs more iterations than fp32 saves time. And in all other sessions.
//   - Else polishing takes some share of each mass's iterations. What it would save is the same share of the smallest
//     mass's, in fp64, where an iteration takes as much longer as it moves more bytes. So it is sloppy where the
//     iterations of all masses together are fewer than that many times those of the smallest, and where a loose
//     tolerance leaves nothing to polish.
// `deflated`: the largest eigenvalue of -D^2 whose mode is taken out, as a mass; 0 where there is none.
ShiftedPrecision shifted_precision(const SessionOptions& options, const Extents& lattice,
                                   std::span<const double> masses, double deflated, double tolerance);

// Options of the operator that these iterations read; in_sloppy: where they are in fp32.
SessionOptions shifted_options(const SessionOptions& options, bool in_sloppy);

// |rounding of A x| / |x| of kernels in this precision: iterations to a smaller residual gain nothing any more.
double rounding_of_products(Precision precision);

}  // namespace staghorn
