// Multi-shift Conjugate Gradient [B. Jegerlehner, hep-lat/9612014]: (A + sigma_k) x_k = b for all shifts by the
// iterations of the smallest one, the seed. Krylov spaces do not depend on a shift, so all residuals are parallel.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "dirac/operators/shifted_update.hpp"
#include "solver/krylov/conjugate_gradient.hpp"
#include "solver/krylov/shifts/shifted_precision.hpp"
#include "solver/search/search_keeper.hpp"

namespace staghorn {

// Of a state that is one of MultiShiftCg::go_on: the iterations before. Local.
std::optional<long> iterations_before(const Archive& archive);

struct ShiftedStop {
  std::vector<std::vector<double>> target_norm;  // [shift][right-hand side]: |r| to reach, absolute. 0, not of the
                                                 // seed: goes on as long as the seed does
  // A shift is done too where |r| <= rounding |x|. 0: never.
  double rounding = 0;
  // Where the loop is left; empty: nowhere.
  std::optional<ChangeOfPrecision> leave_at{};
  long max_iterations = no_limit;
  long stagnation_window = 1000;      // of the seed (see CgStop)
  const bool* interrupted = nullptr;  // see CgStop
  SearchKeeper* keeper = nullptr;     // see CgStop
};

struct ShiftedResult {
  // [shift][right-hand side]. `iterations`: when its residual reached its target; it cost nothing afterwards.
  std::vector<std::vector<SolvedRhs>> shift;
  long iterations = 0;                    // of the seed, the most of any right-hand side
  std::optional<long> iterations_before;  // of them by the solve that this one went on from
  LoopForm form = LoopForm::host;
  bool left = false;  // at leave_at; then `shift` is what there is so far
};

// What a loop that was left needs to go on, in any precision: scalars, and r, p and p of each shift, none of a
// solution.
struct LeftShifts {
  Archive archive;
  std::vector<ColorVectorField> vectors;
};

class MultiShiftCg {
 public:
  // Makes the vectors, of d.n_rhs() right-hand sides each. `d`, in fp64 or fp32, must outlive the object. Local.
  MultiShiftCg(StaggeredOperator& d, int n_shifts);

  // Solves (shift_k - D^2) x_k = b on the sites of `parity` from x = 0. `shifts` ascend; the first is the seed, whose
  // iterates are those of plain CG, bit by bit. Every shift stops at its own target. The seed goes on until all have.
  // Collective.
  ShiftedResult solve(Parity parity, std::span<const double> shifts, const ColorVectorField& b, const ShiftedStop& stop,
                      const ShowProgress& show);
  // Goes on where another solve of these shifts was left, by what rounding may do now. The solutions are what those of
  // that one lack. Its vectors are freed when they have been read; there are none if a state is resumed that was kept
  // since. Collective.
  ShiftedResult go_on(Parity parity, std::span<const double> shifts, LeftShifts&& left, const ShiftedStop& stop,
                      const ShowProgress& show);
  // Of a loop that was left. Its other vectors are of no use afterwards.
  LeftShifts take_left();

  // The solutions of the last solve.
  const ColorVectorField& x(int shift) const { return shift == 0 ? seed_x_ : shifted_.x(shift - 1); }

  std::int64_t bytes() const { return seed_x_.bytes() + work_.bytes() + shifted_.bytes(); }  // without b; this rank
  // How many vectors these are.
  static int vectors(int n_shifts) { return 4 + (n_shifts > 1 ? ShiftedUpdate::fields(n_shifts - 1) : 0); }

 private:
  ShiftedResult iterate(Parity parity, std::span<const double> shifts, std::span<const double> r2, const Archive* from,
                        const ShiftedStop& stop, const ShowProgress& show);

  StaggeredOperator& d_;
  Archive left_;  // of a loop that was left
  ColorVectorField seed_x_;
  CgVectors work_;
  ShiftedUpdate shifted_;
};

}  // namespace staghorn
