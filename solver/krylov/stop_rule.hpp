// When a right-hand side of Conjugate Gradient is done, and why: one rule for all loops, on the host and on GPUs.
#pragma once

#include <cmath>

#include "dirac/algebra/su3.hpp"

namespace staghorn {

enum class CgOutcome { converged, out_of_iterations, stagnated, breakdown };

// What the stop rule remembers of a right-hand side: the smallest |r|^2 so far, infinity before the first, and how many
// iterations have passed since then. Passed as two variables, because a GPU keeps an array of each.
//
// Returns whether a right-hand side with |r|^2 = r2 is done; `outcome` then says why:
//   breakdown   r2 is not finite
//   converged   |r| <= target
//   stagnated   `window` iterations in a row have not made |r| smaller; a window of 0 never ends
template <class Count>
STAGHORN_INLINE bool is_done(double r2, double target, Count window, double& smallest, Count& since_smallest,
                             CgOutcome& outcome) {
  if (!(r2 - r2 == 0)) {  // infinite or not a number
    outcome = CgOutcome::breakdown;
    return true;
  }
  if (std::sqrt(r2) <= target) {
    outcome = CgOutcome::converged;
    return true;
  }
  if (r2 < smallest) {
    smallest = r2;
    since_smallest = 0;
  } else if (++since_smallest >= window && window > 0) {
    outcome = CgOutcome::stagnated;
    return true;
  }
  return false;
}

// Whether (p, A p) ends a right-hand side as a breakdown. A is positive, so (p, A p) must be.
STAGHORN_INLINE bool is_breakdown(double p_A_p) { return !(p_A_p > 0); }

// The loop goes on while at least this many right-hand sides are active.
STAGHORN_INLINE int least_active(bool until_first, int active_at_start) {
  return until_first && active_at_start > 1 ? active_at_start : 1;
}

}  // namespace staghorn
