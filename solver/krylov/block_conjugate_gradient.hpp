// Block Conjugate Gradient: the right-hand sides of one system share their search directions.
//
// From Dubrulle's form ["Retooling the method of block conjugate gradients", ETNA 12 (2001) 216], algorithm BCGrQ:
//   Q S = B,  P = Q;   then   T = A P,  al = (P^+ T)^-1,  X += P al S,  Q' rho = Q - T al,  S <- rho S,  P <- Q' + P
//   rho^+
// Columns of Q are orthonormal, so |column j of S| is the residual of right-hand side j. Iterations fall as the block
// removes the low modes: 304 for 16 right-hand sides where each alone takes 510 (docs/many-sources.md).
//
// Right-hand sides that depend on others, or are zero, leave their places to noise, whose solutions help the others;
// their own solutions are composed in the end. The block goes on until all right-hand sides meet their targets.
#pragma once

#include <memory>

#include "dirac/operators/operator_memory.hpp"
#include "solver/krylov/krylov_solver.hpp"

namespace staghorn {

constexpr int max_block_rhs = 16;

// For systems of `d`, up to max_block_rhs right-hand sides. With `sloppy`, which is fp32, iterations run there, and the
// residual is computed anew in the precision of `d` now and then; where rounding mixes the directions, the block goes
// on in that precision. Where it breaks down or stagnates there, CG goes on from what was reached. CgResult::took_over
// says so. Throws Error where the block cannot run. The operators must outlive the solver. Local.
std::unique_ptr<KrylovSolver> make_block_solver(StaggeredOperator& d, StaggeredOperator* sloppy);

// The bytes of its vectors, of the larger of block and batch.
double predicted_block_bytes(const OperatorBytes& precise, const OperatorBytes* sloppy);

}  // namespace staghorn
