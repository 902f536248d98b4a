// Eigenvalues and eigenvectors of real symmetric matrices: Householder reflections to tridiagonal form, then implicit
// QL with Wilkinson's shift [Martin, Reinsch & Wilkinson, Numer. Math. 11 (1968) 181; Bowdler, Martin, Reinsch &
// Wilkinson, Numer. Math. 11 (1968) 293]. Only + - * / and sqrt in one order: the same bits on every host, where
// LAPACK's depend on the processor. Double precision. All are local.
#pragma once

#include <span>
#include <vector>

namespace staghorn {

// Rows x columns reals, row by row; zero at first.
struct RealMatrix {
  RealMatrix(int rows, int columns)
      : rows(rows), columns(columns), elements(std::size_t(rows) * std::size_t(columns)) {}

  double* row(int i) { return elements.data() + std::size_t(i) * std::size_t(columns); }
  const double* row(int i) const { return const_cast<RealMatrix&>(*this).row(i); }
  double& operator()(int i, int j) { return row(i)[j]; }
  double operator()(int i, int j) const { return row(i)[j]; }

  int rows, columns;
  std::vector<double> elements;
};

// values ascending; row i of `vectors` belongs to values[i].
struct SymmetricEigen {
  std::vector<double> values;
  RealMatrix vectors;
};

// All eigenpairs of the symmetric matrix `a`, of which the lower triangle is read. Errors are a few n 2^-53 |a|, in the
// values and in the orthogonality of the vectors. Takes about 9 n^3 flops. Throws Error where a number is not finite.
SymmetricEigen symmetric_eigen(RealMatrix a);

// All eigenvalues of the tridiagonal matrix with this diagonal and `off` beside it (one element less), and the first
// and last component of each eigenvector: row i of `vectors` is these two. About 30 n^2 flops. Throws Error as above.
SymmetricEigen tridiagonal_ends(std::vector<double> diagonal, std::vector<double> off);

}  // namespace staghorn
