// Small dense complex matrices: of coefficients, and of dot products.
#pragma once

#include <vector>

#include "dirac/algebra/su3.hpp"

namespace staghorn {

// rows x columns numbers, row by row; zero at first.
struct ComplexMatrix {
  ComplexMatrix(int rows, int columns)
      : rows(rows), columns(columns), elements(std::size_t(rows) * std::size_t(columns)) {}

  Complex<double>& operator()(int i, int j) { return elements[std::size_t(i) * std::size_t(columns) + std::size_t(j)]; }
  const Complex<double>& operator()(int i, int j) const { return const_cast<ComplexMatrix&>(*this)(i, j); }

  int rows, columns;
  std::vector<Complex<double>> elements;
};

}  // namespace staghorn
