// Eigenvalues and eigenvectors of Hermitian matrices: Householder reflections to tridiagonal form, then implicit QL
// with Wilkinson's shift [Martin, Reinsch & Wilkinson, Numer. Math. 11 (1968) 181; Bowdler, Martin, Reinsch &
// Wilkinson, Numer. Math. 11 (1968) 293]. Only + - * / and sqrt, on each element in one order: the same bits on every
// host and with any number of threads, where LAPACK's depend on the processor. Double precision. All are local.
#pragma once

#include <vector>

#include "dirac/algebra/complex_matrix.hpp"

namespace staghorn {

// values ascending; row i of `vectors` belongs to values[i].
struct HermitianEigen {
  std::vector<double> values;
  ComplexMatrix vectors;
};

// All eigenpairs of the Hermitian matrix `a`, of which the lower triangle is read. Errors are a few n 2^-53 |a|, in the
// values and in the orthogonality of the vectors. Takes about 22 n^3 flops. Throws Error where a number is not finite.
HermitianEigen hermitian_eigen(const ComplexMatrix& a);

// All eigenvalues, ascending, of the real tridiagonal matrix with this diagonal and `off` beside it (one element less),
// and the first and the last component of each eigenvector. About 30 n^2 flops. Throws Error as above.
struct TridiagonalEnds {
  std::vector<double> values, first, last;
};
TridiagonalEnds tridiagonal_ends(std::vector<double> diagonal, std::vector<double> off);

}  // namespace staghorn
