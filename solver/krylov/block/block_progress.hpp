// What a block solve has reached: the residual of each right-hand side, from the small matrix S.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "dirac/algebra/block_cholesky.hpp"
#include "solver/krylov/krylov_solver.hpp"
#include "solver/krylov/rhs_ledger.hpp"

namespace staghorn {

// A block can be left after so many iterations, and multiples of that.
inline constexpr long iterations_between_states = 4;

// The residuals of the right-hand sides, from S, and whether the block should go on.
class BlockProgress : public RhsLedger {
 public:
  using RhsLedger::results;

  // `shift`: of the system.
  BlockProgress(const CgStop& stop, const ComplexMatrix& composition, double shift)
      : RhsLedger(stop, std::vector<Running>(stop.target_norm.size())), shift_(shift), composition_(composition) {}

  // The residuals B - A X = Q S after the next iteration, or before the first.
  void take(const ComplexMatrix& s) {
    for (Running& running : rhs_) running.done.history.push_back(0);
    ++iterations_;
    take_again(s);
    since_smallest_ = worst_ < smallest_ ? 0 : since_smallest_ + 1;
    smallest_ = std::min(smallest_, worst_);
  }
  // Better numbers for the same iteration.
  void take_again(const ComplexMatrix& s) {
    const ComplexMatrix residuals = product(s, composition_);
    worst_ = 0;
    for (std::size_t j = 0; j < rhs_.size(); ++j) {
      SolvedRhs& rhs = rhs_[j].done;
      rhs.history.back() = column_norm2(residuals, int(j));
      rhs.residual_norm = std::sqrt(rhs.history.back());
      rhs.iterations = iterations_;
      // Finite for a target of 0 too: the block iterates until the ratio has fallen by a factor.
      const double ratio = rhs.residual_norm / std::max(stop_.target_norm[j], 1e-300);
      worst_ = ratio <= worst_ ? worst_ : ratio;  // NaN is the worst
    }
  }
  // Residuals were computed anew. They were Q S before, and `E_E` says by how much Q was off (BlockIteration::replace).
  // Returns the largest share of a direction that was.
  double mark_update(const ComplexMatrix& E_E, const ComplexMatrix& s) {
    const ComplexMatrix residuals = product(s, composition_), off = product(E_E, residuals);
    for (int j = 0; j < int(rhs_.size()); ++j) {
      double off2 = 0;
      for (int i = 0; i < s.rows; ++i) off2 += residuals(i, j).re * off(i, j).re + residuals(i, j).im * off(i, j).im;
      SolvedRhs& rhs = rhs_[std::size_t(j)].done;
      rhs.updates.push_back(iterations_);
      rhs.mismatches.push_back(rhs.residual_norm > 0 ? std::sqrt(std::max(off2, 0.0)) / rhs.residual_norm : 0);
    }
    double worst = 0;
    for (int i = 0; i < E_E.rows; ++i) worst = E_E(i, i).re <= worst ? worst : E_E(i, i).re;  // NaN is the worst
    return std::sqrt(std::max(worst, 0.0));
  }

  double worst() const { return worst_; }  // the largest |r| / target
  bool met() const { return worst_ <= 1; }
  bool stagnates() const {
    return stop_.stagnation_window > 0 && (since_smallest_ >= stop_.stagnation_window || is_far_beyond_bound());
  }
  // Whether the block has taken far more iterations than CG may need. Its coefficients are matrices: the eigenvalues
  // are bounded by the shift and the norm of any D.
  bool is_far_beyond_bound() const {
    if (iterations_ < first_look) return false;
    const double root = root_condition_of_shift(largest_of_any, shift_);
    long bound = 0;
    for (std::size_t j = 0; j < rhs_.size(); ++j)
      bound = std::max(bound, iteration_bound(root, stop_.target_norm[j] / std::sqrt(rhs_[j].done.history[0])));
    return iterations_ / most_bounds > bound;
  }
  long iterations() const { return iterations_; }
  bool may_be_left() const { return iterations_ > 0 && iterations_ % iterations_between_states == 0; }
  bool may_go_on() const { return iterations_ < stop_.max_iterations && !stop_.is_interrupted(); }

  std::vector<SolvedRhs> results(CgOutcome otherwise) {
    for (std::size_t j = 0; j < rhs_.size(); ++j)
      rhs_[j].done.outcome = rhs_[j].done.residual_norm <= stop_.target_norm[j] ? CgOutcome::converged : otherwise;
    return results();
  }

  void visit(const Archive& archive) {
    RhsLedger::visit(archive);
    archive.count("iterations", iterations_);
    archive("since_smallest", since_smallest_);
    archive("worst", worst_);
    archive("smallest", smallest_);
  }

 private:
  // |D|^2 is at most 64 with links in SU(3); fat and Naik links together are below twice that norm.
  static constexpr double largest_of_any = 256;

  double shift_;
  const ComplexMatrix& composition_;
  long iterations_ = -1, since_smallest_ = 0;
  double worst_ = 0, smallest_ = std::numeric_limits<double>::infinity();
};

}  // namespace staghorn
