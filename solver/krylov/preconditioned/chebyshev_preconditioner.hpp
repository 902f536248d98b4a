// P r = what N steps of Chebyshev's iteration make of A z = r from z = 0: a polynomial of A with known coefficients, so
// without a single global sum. [Saad, Iterative Methods for Sparse Linear Systems, section 12.3]
//
// On the interval [shift, largest eigenvalue] of A it is best: |1 - lambda P(lambda)| <= 1 / T_{N+1}(sigma), where
// sigma is the middle of the interval over its half width. So CG with it takes about N + 1 times fewer iterations than
// without, and waits for so many fewer sums; the products with A are about as many.
#pragma once

#include <memory>
#include <optional>

#include "solver/krylov/preconditioned/preconditioner.hpp"

namespace staghorn {

class ChebyshevPreconditioner final : public Preconditioner {
 public:
  // See PreconditionerEntry. With `sloppy` it works in that precision. `from`: where the interval begins above the
  // shift, over the largest eigenvalue of -D^2. 0: a solver; above: a smoother, which leaves low modes to others.
  ChebyshevPreconditioner(StaggeredOperator& d, StaggeredOperator* sloppy, int products, double from = 0);

  // The first time for these links it finds the largest eigenvalue, by some products with A more.
  void apply(const ParitySystem& system, ColorVectorField& z, const ColorVectorField& r) override;
  std::int64_t bytes() const override;
  static double predicted_bytes(const OperatorBytes& precise, const OperatorBytes* sloppy);

 private:
  double largest_eigenvalue(Parity parity);  // of -D^2, and a little more

  StaggeredOperator &precise_, &d_;  // d_: of the iteration
  int products_;
  double from_;
  ColorVectorField r_, p_, tmp_;
  std::optional<ColorVectorField> z_;  // in low precision
  std::shared_ptr<HopData> links_;
  long filling_ = -1;  // of the links for which it is known
  double largest_ = 0;
};

}  // namespace staghorn
