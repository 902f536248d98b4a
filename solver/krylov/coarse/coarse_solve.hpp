// E(m) x = b on a grid of blocks by Conjugate Gradient, preconditioned by the lowest pairs of E(0): with
// theta = t_last + 4m^2,
//
//   z = r + sum_i u_i w_i (u_i, r),   w_i = theta / (t_i + 4m^2) - 1
//
// makes the eigenvalues of the pairs theta, where the others begin. (u_i, r) follows from (u_i, E p), which is summed
// together with (p, E p), and (r, z) = |r|^2 + sum_i w_i |(u_i, r)|^2: two messages an iteration.
#pragma once

#include "solver/krylov/coarse/coarse_pairs.hpp"

namespace staghorn {

// x = E(m)^-1 b until |b - E(m) x| <= tolerance |b| for each right-hand side, shift = 4m^2; at most so many iterations,
// whatever is left. A right-hand side that is done no longer changes. Returns the iterations. Collective.
long solve_coarse(const CoarseMatrix& matrix, const CoarsePairs& pairs, double shift, const CoarseVector& b,
                  CoarseVector& x, double tolerance, long most_iterations);

constexpr int coarse_solve_vectors = 3;  // that it makes: r, p, E p

}  // namespace staghorn
