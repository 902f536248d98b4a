// CG in the complement of a basis of blocks (DEF1): the part of the solution in its space is solved at once, and every
// search direction is freed of that space.
//
//   x = Q b;  r = b - A x                                        then P^+ r = 0
//   A e = r by flexible CG with z = r + Q (r - A r) = (1 - Q A) r;  x += e        Q = P E(m)^-1 P^+
//
// That is CG on (1 - A Q) A y = (1 - A Q) b [Tang, Nabben, Vuik & Erlangga, J. Sci. Comput. 39 (2009) 340]. The term Q
// r takes out again what rough coarse solves leave of P^+ r. An iteration takes two products with A and a coarse solve.
#pragma once

#include "solver/krylov/coarse/coarse_correction.hpp"
#include "solver/krylov/preconditioned/flexible_cg.hpp"

namespace staghorn {

class CoarseDeflatedCg final : public KrylovSolver {
 public:
  static constexpr int vectors = 2;  // besides those of flexible CG and of the correction

  // Both must outlive the solver. Local.
  CoarseDeflatedCg(StaggeredOperator& d, CoarseSpace& space, double coarse_tolerance);

  // Collective.
  CgResult solve(const ParitySystem& system, ColorVectorField& x, const ColorVectorField& b, const CgStop& stop,
                 const ShowProgress& show) override;
  std::int64_t bytes() const override;

 private:
  static constexpr double start_tolerance = 1e-10;  // of the coarse solve for Q b

  CoarseSpace& space_;
  ColorVectorField r_, tmp_;
  FlexibleCg search_;
};

}  // namespace staghorn
