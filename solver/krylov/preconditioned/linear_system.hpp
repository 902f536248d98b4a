// What flexible CG needs of A x = b: products with A, exact sums, and the lines of CG that go through all of its
// vectors. A vector is of any kind that has copy_from: colour vectors on one parity, or any number of components on the
// aggregates of a coarse grid.
#pragma once

#include <span>
#include <vector>

#include "dirac/algebra/exact_sum.hpp"

namespace staghorn {

// A is Hermitian and positive. Coefficients and results are one for each right-hand side; where alpha is 0, x and r
// stay as they are. Sums are exact (exact_sum.hpp), so that a solution has the same bits on any ranks and threads. All
// functions of vectors are collective.
template <class Vector>
class LinearSystem {
 public:
  virtual ~LinearSystem() = default;

  virtual double least_eigenvalue() const = 0;  // no eigenvalue of A is below; 0 where none is known
  virtual std::vector<double> norm2(const Vector& v, std::span<ExactSum> sums) = 0;
  virtual std::vector<double> dot(const Vector& a, const Vector& b) = 0;  // the real parts of (a, b)

  // (p, A p), where p2 = |p|^2. Keeps of the product what the next update needs.
  virtual std::vector<double> product(const Vector& p, std::span<const double> p2, std::span<ExactSum> sums) = 0;
  // r -= alpha A p, of the last product. Returns |r|^2.
  virtual std::vector<double> update_residual(Vector& r, const Vector& p, std::span<const double> alpha,
                                              std::span<ExactSum> sums) = 0;
  // x += alpha p, then p = z + beta p. Returns |p|^2.
  virtual std::vector<double> update_direction(Vector& x, Vector& p, const Vector& z, std::span<const double> alpha,
                                               std::span<const double> beta, std::span<ExactSum> sums) = 0;
};

}  // namespace staghorn
