// Multi-shift Conjugate Gradient [B. Jegerlehner, hep-lat/9612014]: (A + sigma_k) x_k = b for all shifts by the
// iterations of the smallest one, the seed. Krylov spaces do not depend on a shift, so all residuals are parallel.
#pragma once

#include <span>
#include <vector>

#include "dirac/operators/shifted_update.hpp"
#include "solver/krylov/conjugate_gradient.hpp"

namespace staghorn {

struct ShiftedStop {
  std::vector<std::vector<double>> target_norm;  // [shift][right-hand side]: |r| to reach, absolute. 0, not of the
                                                 // seed: goes on as long as the seed does
  // A shift is done too where |r| <= rounding |x|. 0: never.
  double rounding = 0;
  long max_iterations = 10000;
  long stagnation_window = 1000;      // of the seed (stop_rule.hpp)
  const bool* interrupted = nullptr;  // see CgStop
  SearchKeeper* keeper = nullptr;     // see CgStop
};

struct ShiftedResult {
  // [shift][right-hand side]. `iterations`: when its residual reached its target; it cost nothing afterwards.
  std::vector<std::vector<SolvedRhs>> shift;
  long iterations = 0;  // of the seed, the most of any right-hand side
  LoopForm form = LoopForm::host;
};

class MultiShiftCg {
 public:
  static constexpr int most_shifts = max_shifts + 1;

  // Makes the vectors, of d.n_rhs() right-hand sides each. `d`, in fp64 or fp32, must outlive the object. Local.
  MultiShiftCg(StaggeredOperator& d, int n_shifts);

  // Solves (shift_k - D^2) x_k = b on the sites of `parity` from x = 0. `shifts` ascend; the first is the seed, whose
  // iterates are those of plain CG, bit by bit. Every shift stops at its own target. The seed goes on until all have.
  // Collective.
  ShiftedResult solve(Parity parity, std::span<const double> shifts, const ColorVectorField& b, const ShiftedStop& stop,
                      const ShowProgress& show);

  // The solutions of the last solve.
  const ColorVectorField& x(int shift) const { return shift == 0 ? seed_x_ : shifted_.x(shift - 1); }

  std::int64_t bytes() const { return seed_x_.bytes() + work_.bytes() + shifted_.bytes(); }  // without b; this rank
  // How many vectors these are.
  static int vectors(int n_shifts) { return 4 + (n_shifts > 1 ? ShiftedUpdate::fields(n_shifts - 1) : 0); }

 private:
  StaggeredOperator& d_;
  ColorVectorField seed_x_;
  CgVectors work_;
  ShiftedUpdate shifted_;
};

}  // namespace staghorn
