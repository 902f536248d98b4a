// The lowest eigenpairs of E(0), t_i and u_i, which make coarse solves short at every mass: E(m) has the same vectors
// and the values t_i + 4m^2.
//
// Lanczos with full reorthogonalisation on a Chebyshev polynomial of E(0) (eigen/chebyshev_filter.hpp), without
// restarts, then Rayleigh and Ritz. Pairs that have not converged serve all the same, for they precondition.
#pragma once

#include "solver/krylov/coarse/coarse_matrix.hpp"

namespace staghorn {

struct CoarsePairs {
  std::vector<double> values;  // ascending: (u, E(0) u)
  std::vector<CoarseVector> vectors;
  double largest = 0;  // eigenvalue of E(0), or a little more
  long products = 0;   // with E(0)
  std::int64_t bytes() const { return vectors.empty() ? 0 : std::int64_t(vectors.size()) * vectors[0].bytes(); }
};

// At most `count` of them, and no more than a quarter of the dimension. Collective.
CoarsePairs find_coarse_pairs(const CoarseMatrix& matrix, int count);

// The vectors that the search makes at most.
int coarse_search_vectors(int count);

}  // namespace staghorn
