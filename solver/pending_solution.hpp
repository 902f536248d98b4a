// When Conjugate Gradient adds what to x: in every second iteration, two directions at once.
//
// In odd iterations x is left alone. The residual update of the next has p_{k+1} and r_k at hand, and so
//
//   x += alpha_k p_k + alpha_{k+1} p_{k+1} = c_r r_k + c_p p_{k+1},   c_r = -alpha_k / beta_k,  c_p = alpha_{k+1} - c_r
//
// since p_k = (p_{k+1} - r_k) / beta_k. So x is read and written half as often. What cannot wait (a right-hand side or
// the loop ends) is added by the direction update of the same iteration, before p changes.
#pragma once

#include "dirac/kernels.hpp"
#include "dirac/su3.hpp"

namespace staghorn {

// The coefficients of one loop, per right-hand side: one rule for the loops on the host and on GPUs. Where all of one
// update are 0 it leaves x alone.
struct PendingSolution {
  double of_p[max_rhs] = {}, of_r[max_rhs] = {};  // residual update:   x = of_p p + (of_r r + x), r the old one
  double at_once[max_rhs] = {};                   // direction update:  x = at_once p + x, p the old one
  bool may_wait = true;  // not in fp16: there p is rounded to 16 bits, and p_k cannot be had back from p_{k+1}

  STAGHORN_INLINE bool adds_to_pending(long long iteration) const { return may_wait && iteration % 2 == 0; }

  // Before the residual update of iteration 1, 2, ..., with its alpha.
  STAGHORN_INLINE void before_residual(int i, long long iteration, double alpha) {
    of_p[i] = adds_to_pending(iteration) ? alpha - of_r[i] : 0;
  }

  // Before its direction update. goes_on: there will be a next iteration, and this right-hand side takes part in it.
  STAGHORN_INLINE void before_direction(int i, long long iteration, double alpha, double beta, bool goes_on) {
    // p_k from p_{k+1} is off by epsilon |r_{k-1}| / sqrt(beta): by 32 epsilon at worst.
    const bool recoverable = beta >= 0x1p-10 && beta < 0x1p+1000;
    const bool due = !adds_to_pending(iteration), waits = due && may_wait && goes_on && recoverable;
    at_once[i] = due && !waits ? alpha : 0;
    of_r[i] = waits ? -alpha / beta : 0;
  }
};

}  // namespace staghorn
