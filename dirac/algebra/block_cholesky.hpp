// Products and Cholesky factors of small dense complex matrices, as block Krylov methods need them. Only + - * / and
// sqrt, with explicit fma in one order: the same bits on every host. All are local.
#pragma once

#include <span>
#include <vector>

#include "dirac/algebra/complex_matrix.hpp"

namespace staghorn {

ComplexMatrix identity(int n);
ComplexMatrix adjoint(const ComplexMatrix& a);
ComplexMatrix product(const ComplexMatrix& a, const ComplexMatrix& b);          // a b
ComplexMatrix product_adjoint(const ComplexMatrix& a, const ComplexMatrix& b);  // a b^dagger
void add(double factor, const ComplexMatrix& a, ComplexMatrix& b);              // b += factor a
// The rows of the matrices, which have as many columns each, one below the other.
ComplexMatrix stacked(std::span<const ComplexMatrix* const> parts);
// |column j|^2
double column_norm2(const ComplexMatrix& a, int j);
// The largest sum_j |a_ij|, which no eigenvalue exceeds.
double largest_row_sum(const ComplexMatrix& a);

// G = rho^dagger rho for the Gram matrix G of vectors y_0, y_1, ...: y = q rho with orthonormal q = y inverse.
//
// The factor reveals the rank. A vector whose distance from the span of the vectors before it has a square of at most
// `least` times its own is dropped: row j of rho and column j of inverse are zero, so q_j is zero, and column j of rho
// says how y_j is composed of the others. rho is upper triangular, and its diagonal is positive where a vector is kept:
// for kept vectors it is unique.
struct BlockFactor {
  ComplexMatrix rho, inverse;
  std::vector<bool> kept;
  int rank = 0;
  double smallest_pivot = 1;  // of kept vectors: squared distance over squared norm; q deviates from orthonormal by
                              // about the rounding of G over this
};
BlockFactor block_cholesky(const ComplexMatrix& gram, double least);

// The inverse of an upper triangular matrix whose diagonal is real; rows and columns where that is not positive count
// as dropped.
ComplexMatrix triangular_inverse(const ComplexMatrix& rho);
// The inverse of a Hermitian positive matrix on the vectors that are kept, zero elsewhere.
ComplexMatrix positive_inverse(const BlockFactor& factor);

}  // namespace staghorn
