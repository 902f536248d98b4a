// How far a link is from SU(3). One text for CPU and GPU.
#pragma once

#include "dirac/algebra/su3_matrix.hpp"

namespace staghorn {

// The larger number; NaN if one of them is NaN.
STAGHORN_INLINE void grow(double& largest, double value) {
  if (value > largest || value != value) largest = value;
}

// Raises both to the largest |(U U^dagger - 1)_ij|^2 and to |det U - 1|^2 of the link.
STAGHORN_INLINE void grow_deviations2(const ColorMatrix<double>& u, double& unitarity, double& of_determinant) {
  const ColorMatrix<double> product = u * adjoint(u);
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) {
      const double re = product.e[i][j].re - (i == j), im = product.e[i][j].im;
      grow(unitarity, multiply_add(re, re, im * im));
    }
  const Complex<double> det = determinant(u);
  const double re = det.re - 1;
  grow(of_determinant, multiply_add(re, re, det.im * det.im));
}

}  // namespace staghorn
