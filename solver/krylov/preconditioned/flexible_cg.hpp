// Conjugate Gradient with a preconditioner that may change from iteration to iteration: beta by Polak and Ribiere
// (flexible_cg_loop.hpp).
#pragma once

#include <memory>

#include "dirac/operators/vector_algebra.hpp"
#include "solver/krylov/preconditioned/flexible_cg_loop.hpp"
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
  std::unique_ptr<Preconditioner> preconditioner_;
  VectorAlgebra algebra_;
  ColorVectorField tmp_;
  FlexibleCgVectors<ColorVectorField> work_;
};

}  // namespace staghorn
