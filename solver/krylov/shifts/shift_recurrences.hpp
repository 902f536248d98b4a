// What a shifted system of multi-shift CG does in an iteration of the seed: one text for all loops.
//
// (A + sigma) x = b shares the Krylov space of the seed A x = b: its residual is zeta r [Jegerlehner, hep-lat/9612014],
//   zeta' / zeta = rho' = 1 / (1 + sigma alpha + alpha beta_before / alpha_before (1 - rho))
//   alpha of the shift  = rho' alpha,   beta of the shift = rho'^2 beta
// where alpha and beta are those of the seed in this iteration and beta_before is the one that made its direction. With
// ratios instead of three values of zeta nothing overflows, and 0 < rho <= 1.
#pragma once

#include "dirac/kernels/shifted_step.hpp"

namespace staghorn {

struct ShiftState {
  double rho = 1, zeta = 1;
  double x2 = 0, x_p = 0, p2 = 0;  // |x|^2, (x, p) and |p|^2
};

// The step of a shift after the seed's residual was updated. In the first iteration alpha_before is 0.
STAGHORN_INLINE ShiftedStep<double> next_shifted_step(ShiftState& state, double sigma, double alpha, double beta,
                                                      double alpha_before, double beta_before) {
  const double memory = alpha_before > 0 ? alpha * beta_before / alpha_before * (1 - state.rho) : 0;
  const double rho = 1 / (multiply_add(sigma, alpha, 1.0) + memory);
  state.rho = rho;
  state.zeta *= rho;
  return {alpha * rho, beta * (rho * rho), state.zeta};
}

// The norm of the solution by scalars alone: the residual is orthogonal to all directions before, and so to x.
//   |x'|^2 = |x|^2 + alpha (2 (x, p) + alpha |p|^2),  (x', p') = beta ((x, p) + alpha |p|^2)   [Hestenes & Stiefel
//   1952] |p'|^2 = zeta^2 |r|^2 + beta^2 |p|^2
STAGHORN_INLINE void grow_norms(ShiftState& state, const ShiftedStep<double>& step, double r2) {
  const double alpha_p2 = step.alpha * state.p2;
  state.x2 += step.alpha * (2 * state.x_p + alpha_p2);
  state.x_p = step.beta * (state.x_p + alpha_p2);
  state.p2 = step.zeta * step.zeta * r2 + step.beta * step.beta * state.p2;
}

}  // namespace staghorn
