// In which precision the iterations of multi-shift CG run, where a session has two. Local throughout.
#pragma once

#include <span>

#include "halo/lattice.hpp"
#include "solver/request/solve_request.hpp"

namespace staghorn {

// Of a session in fp64 and fp32:
enum class ShiftedPrecision {
  precise,
  precise_at_first,     // fp32 soon. Each mass leaves the iterations where rounding ends them, and is polished
  precise_then_sloppy,  // fp32 as soon as its rounding spoils nothing any more: next to nothing is left to polish
};

// Which of them is fastest, by the iterations of free quarks:
//   - precise where the smallest mass needs many iterations beside the unknowns of a parity. CG is done because it
//     exhausts the spectrum; rounding then costs more iterations than fp32 saves time. And in all other sessions.
//   - Else fp32 soon leaves a residual of each mass to be polished. Late, it costs the iterations that take as much off
//     the residual of the smallest mass in fp64, where an iteration takes longer as it moves more bytes. So it is
//     precise_at_first where polishing moves fewer bytes than these.
// `deflated`: the largest eigenvalue of -D^2 whose mode is taken out, as a mass; 0 where there is none.
ShiftedPrecision shifted_precision(const SessionOptions& options, const Extents& lattice,
                                   std::span<const double> masses, double deflated, double tolerance);

// Where the iterations go on in fp32: |r| of the smallest mass has fallen to `fall` of |b|, and `rounding` of fp32
// would spoil no mass any more (ShiftedRhs::bears; 0: whatever it spoils). The first iterations correct most of the
// source; what rounding makes of that is most of what it makes of all (decision 032).
struct ChangeOfPrecision {
  double fall = 0, rounding = 0;
};
ChangeOfPrecision change_of_precision(ShiftedPrecision in);

// |rounding of A x| / |x| of kernels in this precision: iterations to a smaller residual gain nothing any more.
double rounding_of_products(Precision precision);

}  // namespace staghorn
