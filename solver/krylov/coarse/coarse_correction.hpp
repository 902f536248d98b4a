// A preconditioner that is exact in the space of a basis of blocks: a coarse correction, between two passes of a
// smoother or without one.
//
//   z = C r;  z += Q (r - A z);  z += C (r - A z)      Q = P E(m)^-1 P^+, C: Chebyshev's iteration (multigrid)
//   z = r;    z += Q (r - A z)                         where P^+ r = 0 that is (1 - Q A) r (deflation)
#pragma once

#include "solver/krylov/coarse/coarse_space.hpp"
#include "solver/krylov/preconditioned/chebyshev_preconditioner.hpp"

namespace staghorn {

class CoarseCorrection final : public Preconditioner {
 public:
  // `smoothing`: products with A in each pass of the smoother; 0: none. `coarse_tolerance` of each coarse solve; what
  // it leaves flexible CG takes out. The smoother works in the precision of `sloppy`, where it is there. All must
  // outlive the object. Local.
  CoarseCorrection(StaggeredOperator& d, StaggeredOperator* sloppy, CoarseSpace& space, int smoothing,
                   double coarse_tolerance);

  void apply(const ParitySystem& system, ColorVectorField& z, const ColorVectorField& r) override;
  std::int64_t bytes() const override;
  static double predicted_bytes(const OperatorBytes& precise, const OperatorBytes* sloppy, int smoothing);

 private:
  static constexpr double smooth_from = 1.0 / 32;  // of the largest eigenvalue: modes above are the smoother's

  CoarseSpace& space_;
  int smoothing_;
  double coarse_tolerance_;
  std::optional<ChebyshevPreconditioner> smoother_;
  ColorVectorField s_, e_, tmp_;
};

}  // namespace staghorn
