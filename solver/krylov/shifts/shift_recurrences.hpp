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

}  // namespace staghorn
