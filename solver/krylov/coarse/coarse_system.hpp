// E(m) c = b on a grid of blocks for flexible CG: E(m) = E(0) + shift, shift = 4m^2.
#pragma once

#include <span>
#include <vector>

#include "dirac/algebra/su3.hpp"
#include "solver/krylov/coarse/coarse_matrix.hpp"
#include "solver/krylov/preconditioned/linear_system.hpp"

namespace staghorn {

// (a_k, b) of each right-hand side of the vectors a_k with that of b: [k][right-hand side]. Sums within a block have one
// order, and those over blocks are exact. Two messages for all of them. Collective.
std::vector<Complex<double>> coarse_dots(const Communicator& communicator, std::span<const CoarseVector* const> a,
                                         const CoarseVector& b);
// v += factor w for each right-hand side. Local.
void add_scaled(std::span<const Complex<double>> factor, const CoarseVector& w, CoarseVector& v);

class CoarseSystem final : public LinearSystem<CoarseVector> {
 public:
  // The matrix must outlive the object.
  CoarseSystem(const CoarseMatrix& matrix, double shift, int n_rhs)
      : matrix_(matrix), shift_(shift), A_p_(matrix.make_vector(n_rhs)) {}

  double least_eigenvalue() const override { return shift_; }
  std::vector<double> norm2(const CoarseVector& v, std::span<ExactSum>) override { return dot(v, v); }
  std::vector<double> dot(const CoarseVector& a, const CoarseVector& b) override;
  std::vector<double> product(const CoarseVector& p, std::span<const double>, std::span<ExactSum>) override;
  std::vector<double> update_residual(CoarseVector& r, const CoarseVector&, std::span<const double> alpha,
                                      std::span<ExactSum>) override;
  std::vector<double> update_direction(CoarseVector& x, CoarseVector& p, const CoarseVector& z,
                                       std::span<const double> alpha, std::span<const double> beta,
                                       std::span<ExactSum>) override;
  // out = E(m) in. Collective.
  void apply(const CoarseVector& in, CoarseVector& out) const;

 private:
  const CoarseMatrix& matrix_;
  double shift_;
  CoarseVector A_p_;
};

}  // namespace staghorn
