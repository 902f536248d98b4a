// Multi-shift CG for several masses of one operator D and several sources at once:
//   A x = b:  on the sites of one parity, A = 4m^2 - D^2
//   M x = b:  x_e = 2m A^-1 b_e - A^-1 D_eo b_o. Both right-hand sides of A are the same for all masses. So a source
//             that lives on both parities takes two columns of the batch, one that lives on one parity takes one;
//             EvenOddPass::complete makes x_o.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "solver/krylov/shifts/multi_shift.hpp"
#include "solver/request/solve_request.hpp"

namespace staghorn {

// One right-hand side of A: of which source, and of the full system whether it is D_eo b_o instead of b_e.
struct ShiftedColumn {
  int source = 0;
  bool odd_half = false;
};

// The columns that these sources need; a source that is zero on the sites of the system needs none. Collective.
std::vector<ShiftedColumn> shifted_columns(const Communicator& communicator, System system,
                                           std::span<const VectorField> sources);

struct ShiftedPassStop {
  std::vector<double> tolerance;  // of each mass: |b - M x| / |b|
  long max_iterations = no_limit;
  const bool* interrupted = nullptr;
  SearchKeeper* keeper = nullptr;  // see CgStop
  // If set: what the eigenvectors say of each mass, and multi-shift CG on the rest of the sources. Rounding of the
  // vectors is left to whoever polishes.
  Deflation* deflation = nullptr;
};

struct ShiftedPassResult {
  // [mass][source]: iterations until all columns of the source were done; |b - M x| as iterated, absolute. The history
  // holds squares of that.
  std::vector<std::vector<SolvedRhs>> mass;
  long iterations = 0;         // of the seed
  long sloppy_iterations = 0;  // of these in a lower precision than the session's
  LoopForm form = LoopForm::host;
  Precision precision = Precision::fp64;  // of the first iteration
};

class ShiftedPass {
 public:
  // Makes the vectors of `columns`, one for each right-hand side of `d`. If `later` is set, the same operator in a
  // lower precision, iterations go on with it where `change` says. Both must outlive the object. Local.
  ShiftedPass(StaggeredOperator& d, int n_masses, std::vector<ShiftedColumn> columns, System system,
              StaggeredOperator* later = nullptr, const ChangeOfPrecision& change = {});

  // Whether a state that was kept is one of iterations on `later`. There are solutions then to go on from.
  static bool went_on(const Archive& state) { return iterations_before(state).has_value(); }

  // Solves for every mass and source from zero, as far as rounding in the precision of `d` allows; b2 holds |b|^2 of
  // each source. Adds the solutions to `solutions`, mass by mass, source by source: of the full system their even
  // sites. Once for each object. Collective.
  ShiftedPassResult solve(std::span<const double> masses, std::span<const VectorField> sources,
                          std::span<const double> b2, const ShiftedPassStop& stop, const ShowProgress& show,
                          std::span<VectorField> solutions);

  std::int64_t bytes() const { return bytes_; }  // of all vectors there were at a time; this rank
  // How many vectors of n_columns right-hand sides these are, and with a deflation while it solves.
  static int vectors(int n_masses, System system, bool deflated = false) {
    return MultiShiftCg::vectors(n_masses) + (system == System::full ? 3 : 1) + (deflated ? 1 : 0);
  }

 private:
  void set_sources(std::span<const VectorField> sources, std::span<const double> b2);
  // |b - M x| <= sum over columns of |r of the column| / weight, which is 1, or of D_eo b_o 2m.
  double weight(double mass, std::size_t j) const { return scale_[j] * (columns_[j].odd_half ? 2 * mass : 1); }
  // |r| that each column is to reach at a mass, and what the columns of each source did.
  std::vector<double> targets_of_columns(double mass, double tolerance, std::span<const double> b2) const;
  std::vector<SolvedRhs> merge_columns(double mass, std::span<const SolvedRhs> columns, std::size_t n_sources) const;

  StaggeredOperator& d_;
  StaggeredOperator* later_;
  ChangeOfPrecision change_;
  std::vector<ShiftedColumn> columns_;
  System system_;
  Parity parity_;
  std::vector<double> scale_;  // of each column: the fields hold `scale` times the real thing, a power of two
  std::vector<ColorVectorField> fields_;  // b; full system: then b_o, and D_eo b_o
  std::optional<MultiShiftCg> cg_;
  std::int64_t bytes_ = 0;
};

}  // namespace staghorn
