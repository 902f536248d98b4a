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
class BlockProgress {
 public:
  // `shift`: of the system.
  BlockProgress(const CgStop& stop, const ComplexMatrix& composition, double shift)
      : stop_(stop), shift_(shift), composition_(composition), rhs_(stop.target_norm.size()) {}

  // The residuals B - A X = Q S after the next iteration, or before the first.
  void take(const ComplexMatrix& s) {
    for (SolvedRhs& rhs : rhs_) rhs.history.push_back(0);
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
      const double r2 = column_norm2(residuals, int(j));
      rhs_[j].history.back() = r2;
      rhs_[j].residual_norm = std::sqrt(r2);
      rhs_[j].iterations = iterations_;
      // Finite for a target of 0 too: the block iterates until the ratio has fallen by a factor.
      const double ratio = rhs_[j].residual_norm / std::max(stop_.target_norm[j], 1e-300);
      worst_ = ratio <= worst_ ? worst_ : ratio;  // NaN is the worst
    }
  }
  void mark_update() {
    for (SolvedRhs& rhs : rhs_) rhs.updates.push_back(iterations_);
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
      bound = std::max(bound, iteration_bound(root, stop_.target_norm[j] / std::sqrt(rhs_[j].history[0])));
    return iterations_ / most_bounds > bound;
  }
  long iterations() const { return iterations_; }
  bool may_be_left() const { return iterations_ > 0 && iterations_ % iterations_between_states == 0; }
  bool may_go_on() const { return iterations_ < stop_.max_iterations && !stop_.is_interrupted(); }

  std::vector<SolvedRhs> results(CgOutcome otherwise) {
    for (std::size_t j = 0; j < rhs_.size(); ++j)
      rhs_[j].outcome = rhs_[j].residual_norm <= stop_.target_norm[j] ? CgOutcome::converged : otherwise;
    return std::move(rhs_);
  }

  void visit(const Archive& archive) {
    archive("rhs", rhs_, rhs_.size());
    archive.count("iterations", iterations_);
    archive("since_smallest", since_smallest_);
    archive("worst", worst_);
    archive("smallest", smallest_);
  }

  // The batch went on from here and did this.
  void append(std::span<const SolvedRhs> found) {
    for (std::size_t j = 0; j < rhs_.size(); ++j) {
      SolvedRhs& rhs = rhs_[j];
      for (const long update : found[j].updates) rhs.updates.push_back(rhs.iterations + update);
      append_leg(rhs, found[j]);
      rhs.steps.clear();  // those of the batch alone say nothing of the whole
      rhs.residual_norm = found[j].residual_norm;
      rhs.outcome = found[j].outcome;
    }
  }
  std::vector<SolvedRhs> results() { return std::move(rhs_); }

 private:
  // |D|^2 is at most 64 with links in SU(3); fat and Naik links together are below twice that norm.
  static constexpr double largest_of_any = 256;

  const CgStop& stop_;
  double shift_;
  const ComplexMatrix& composition_;
  std::vector<SolvedRhs> rhs_;
  long iterations_ = -1, since_smallest_ = 0;
  double worst_ = 0, smallest_ = std::numeric_limits<double>::infinity();
};

}  // namespace staghorn
