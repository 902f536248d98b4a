// What Conjugate Gradient need not do in every iteration. One rule for all loops, on the host and on GPUs.
//
//   textbook [Hestenes & Stiefel 1952]        here
//   p = r + beta p                            at the end of the iteration that uses p, where r and p are read anyway
//   tmp = D p                                 tmp = D r + beta tmp, the same number: p is not needed for it
//   |p|^2                                     |r|^2 + beta^2 |p|^2: the new r is orthogonal to the old p
//   x += alpha p                              in every second iteration, by two directions at once
//
// So an iteration waits for two sums, and it moves 54 reals of vectors instead of 66. Rounding lets tmp drift away from
// D p, and the recurrence of |p|^2 away from its true value. Every cg_refresh_interval iterations both are computed
// from p itself.
#pragma once

#include <span>
#include <vector>

#include "dirac/algebra/exact_sum.hpp"
#include "dirac/algebra/su3.hpp"
#include "dirac/kernels/kernel_table.hpp"

namespace staghorn {

// Even, so that x is complete whenever p is given.
constexpr int cg_refresh_interval = 16;

// Whether p is given before iteration 1, 2, ..., so that tmp = D p is computed from it.
STAGHORN_INLINE bool cg_direction_is_given(long long iteration) { return (iteration - 1) % cg_refresh_interval == 0; }

// (p, A p) = shift |p|^2 + |D p|^2, since D is anti-Hermitian.
STAGHORN_INLINE double p_dot_A_p(double shift, double p2, double hop2) { return shift * p2 + hop2; }

STAGHORN_INLINE double next_direction_norm2(double r2, double beta, double p2) { return r2 + beta * beta * p2; }

// Running sums that expect values near these, one for each right-hand side.
inline ExactSum sum_near(double value) { return ExactSum(value > 0 ? value : 1); }
inline std::vector<ExactSum> sums_near(std::span<const double> values) {
  std::vector<ExactSum> sums;
  for (const double value : values) sums.push_back(sum_near(value));
  return sums;
}

// The same where the bounds of the next contributions are known.
inline std::vector<ExactSum> sums_within(std::span<const double> bounds) {
  std::vector<ExactSum> sums;
  for (const double bound : bounds) sums.push_back(ExactSum(bound * 0x1p-20));
  return sums;
}
inline std::vector<double> bounds_of(std::span<const ExactSum> sums) {
  std::vector<double> bounds;
  for (const ExactSum& sum : sums) bounds.push_back(sum.grid().bound);
  return bounds;
}

// The coefficients of x in one loop, for each right-hand side. An update whose coefficients are both 0 leaves x alone.
struct PendingSolution {
  // Residual update: x = new_weight p + (old_weight p_before + x).
  double new_weight[max_rhs] = {}, old_weight[max_rhs] = {};
  double waiting[max_rhs] = {};  // alpha of the last p, if x lacks alpha p, else 0

  // Called before the residual update of iteration 1, 2, ..., with its alpha.
  STAGHORN_INLINE void before_residual(int i, long long iteration, double alpha) {
    const bool adds = iteration % 2 == 0;
    new_weight[i] = adds ? alpha : 0;
    old_weight[i] = adds ? waiting[i] : 0;
    waiting[i] = adds ? 0 : alpha;
  }
};

}  // namespace staghorn
