// A solver whose residual is freed of known eigenvectors first: any solver that starts from x = 0.
//
//   r = b
//   repeat:  x += what the eigenvectors say of r;  r = b - A x
//            x += the solver's solution of A e = r
//
// Eigenvectors in the precision of the answer need one round. Those that were rounded to less, and those that serve the
// other parity, leave a part of the residual where it was. So a round then ends where every right-hand side has fallen
// by `drop` (Deflation::damped_drop where projections damp), and the next one takes out what came back. A right-hand
// side waits for the others of its batch, so its bits are those that it has alone wherever that is so of the solver's.
#pragma once

#include <memory>

#include "solver/krylov/krylov_solver.hpp"

namespace staghorn {

class DeflatedSolver final : public KrylovSolver {
 public:
  static constexpr double drop = 1e-4;
  static constexpr int vectors = 3;

  // Makes its vectors. `solver` solves systems of `d`, which must outlive the object. Without stop.deflation a solve is
  // the solver's own. Local.
  DeflatedSolver(const StaggeredOperator& d, std::unique_ptr<KrylovSolver> solver);

  // Collective.
  CgResult solve(const ParitySystem& system, ColorVectorField& x, const ColorVectorField& b, const CgStop& stop,
                 const ShowProgress& show) override;
  std::int64_t bytes() const override;  // the solver's included

 private:
  std::unique_ptr<KrylovSolver> solver_;
  ColorVectorField r_, e_, tmp_;
};

}  // namespace staghorn
