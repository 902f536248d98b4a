// Vectors near the null space of K = -D^2 on even sites, of which a basis of blocks is made: so many iterations of CG
// on K v = 0, from noise. High modes leave such a vector first. The number of iterations is a better measure than a
// residual, half of which is gone after a few.
#pragma once

#include <functional>

#include "solver/eigen/eigenpairs.hpp"
#include "solver/krylov/krylov_solver.hpp"

namespace staghorn {

// `count` vectors of norm 1 where those of the operator lie, in blocks of Eigenpairs; values and residuals are empty.
// Gaussian noise by site from the seed. The operator's right-hand sides are solved together, so many vectors at a time:
// near_null_columns. Collective.
Eigenpairs find_near_null_vectors(StaggeredOperator& d, int count, long iterations, std::uint64_t seed,
                                  const ShowProgress& show, const bool* interrupted);

// Right-hand sides for so many vectors: at most 16, as few as the same number of batches allows. Local.
int near_null_columns(int count);

}  // namespace staghorn
