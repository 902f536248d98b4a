// What Conjugate Gradient need not do in every iteration. One rule for all loops, on the host and on GPUs.
//
//   textbook [Hestenes & Stiefel 1952]        here
//   p = r + beta p                            at the end of the iteration that uses p, where r and p are read anyway
//   tmp = D p                                 tmp = D r + beta tmp, the same number: p is not needed for it
//   |p|^2                                     |r|^2 + beta^2 |p|^2: the new r is orthogonal to the old p
//   x += alpha p                              in every second iteration, by two directions at once
//
// So an iteration has two sums to wait for, and 54 reals of vectors to move instead of 66. Rounding lets tmp drift away
// from D p, and |p|^2 from what it is: every cg_refresh_interval iterations both are computed from p itself.
#pragma once

#include "dirac/algebra/exact_sum.hpp"
#include "dirac/algebra/su3.hpp"
#include "dirac/kernels/kernel_table.hpp"

namespace staghorn {

// Even, so that x is complete whenever p is given.
constexpr int cg_refresh_interval = 16;

// Whether p is there before iteration 1, 2, ..., so that tmp = D p is computed from it.
STAGHORN_INLINE bool cg_direction_is_given(long long iteration) { return (iteration - 1) % cg_refresh_interval == 0; }

STAGHORN_INLINE double next_direction_norm2(double r2, double beta, double p2) { return r2 + beta * beta * p2; }

// For a sum of about this value.
inline ExactSum sum_near(double value) { return ExactSum(value > 0 ? value : 1); }

// The coefficients of one loop, per right-hand side. Where both of an update are 0 it leaves x alone.
struct PendingSolution {
  double of_new[max_rhs] = {}, of_old[max_rhs] = {};  // residual update: x = of_new p + (of_old p_before + x)
  double waiting[max_rhs] = {};                       // alpha of the last p, where x lacks it

  // Before the residual update of iteration 1, 2, ..., with its alpha.
  STAGHORN_INLINE void before_residual(int i, long long iteration, double alpha) {
    const bool adds = iteration % 2 == 0;
    of_new[i] = adds ? alpha : 0;
    of_old[i] = adds ? waiting[i] : 0;
    waiting[i] = adds ? 0 : alpha;
  }
};

}  // namespace staghorn
