// Conjugate Gradient with a preconditioner P that may change from iteration to iteration: beta by Polak and Ribiere
// [Notay, SIAM J. Sci. Comput. 22 (2000) 1444].
//
//   alpha = (r, z) / (p, A p);  x += alpha p;  r -= alpha A p;  z = P r
//   beta = (z, r - r_before) / (z_before, r_before);  p = z + beta p
#pragma once

#include <memory>

#include "dirac/operators/vector_algebra.hpp"
#include "solver/krylov/preconditioned/preconditioner.hpp"

namespace staghorn {

class FlexibleCg final : public KrylovSolver {
 public:
  static constexpr int vectors = 5;  // besides those of the preconditioner

  FlexibleCg(const StaggeredOperator& d, std::unique_ptr<Preconditioner> preconditioner);

  CgResult solve(const ParitySystem& system, ColorVectorField& x, const ColorVectorField& b, const CgStop& stop,
                 const ShowProgress& show) override;
  std::int64_t bytes() const override;

 private:
  std::vector<double> dot(const ColorVectorField& a, const ColorVectorField& b) const;  // real parts

  std::unique_ptr<Preconditioner> preconditioner_;
  VectorAlgebra algebra_;
  ColorVectorField r_, r_before_, z_, p_, tmp_;
};

}  // namespace staghorn
