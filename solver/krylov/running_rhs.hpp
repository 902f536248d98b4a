// The right-hand sides of a loop whose scalars are on the host: which of them still run, and what each has done so far.
#pragma once

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>
#include <vector>

#include "solver/krylov/rhs_ledger.hpp"

namespace staghorn {

// How many iterations without a smaller residual right-hand side i is given.
inline long stagnation_window_of(const Running& running, const CgStop& stop, std::size_t i) {
  if (!running.patient || stop.stagnation_window == 0 || running.root_condition == 0) return stop.stagnation_window;
  const double share = stop.target_norm[i] / std::sqrt(running.done.history[0]);
  return std::max(stop.stagnation_window, iteration_bound(running.root_condition, share));
}

// Where it is time to, looks at the coefficients of right-hand side i, which runs. Ends it as stagnated where it has
// taken far more iterations than such a matrix allows. No eigenvalue of the matrix is below `least`.
inline void look_at_coefficients(Running& running, const CgStop& stop, std::size_t i, double least) {
  SolvedRhs& done = running.done;
  if (stop.restarted || stop.stagnation_window == 0 || !is_look(done.iterations)) return;
  running.root_condition = root_condition(estimate_spectrum(done.history, done.steps), least);
  const double share = stop.target_norm[i] / std::sqrt(done.history[0]);
  const long bound = iteration_bound(running.root_condition, share);
  if (bound == 0 || done.iterations / most_bounds <= bound) return;
  done.outcome = CgOutcome::stagnated;
  running.active = false;
}

// For progress: of the right-hand side that still runs and has the largest.
inline double iterations_per_e(std::span<const Running> rhs) {
  double largest = 0;
  for (const Running& running : rhs)
    if (running.active) largest = std::max(largest, iterations_per_e(running.root_condition));
  return largest;
}

class RunningRhs : public RhsLedger {
 public:
  // Takes |r|^2 at the start; a right-hand side that has reached its target never runs. The matrix has no eigenvalue
  // below `least`.
  RunningRhs(std::span<const double> r2, const CgStop& stop, double least)
      : RhsLedger(stop, std::vector<Running>(r2.size())), least_(least) {
    for (Running& running : rhs_) running.patient = stop.patient;
    take_residuals(r2);
    least_active_ = least_active(stop.until_first, count_active());
  }
  // Goes on from what memory() returned.
  RunningRhs(std::vector<Running> rhs, const CgStop& stop, double least)
      : RhsLedger(stop, std::move(rhs)), least_(least) {
    least_active_ = least_active(stop.until_first, count_active());
  }
  const std::vector<Running>& memory() const { return rhs_; }

  // Whether iteration 1, 2, ... takes place.
  bool go_on(long iteration) const {
    return iteration <= stop_.max_iterations && count_active() >= least_active_ && !stop_.is_interrupted();
  }

  // Ends right-hand sides whose (p, A p) is not positive. Returns alpha = |r|^2 / (p, A p), as `ratio` does.
  std::vector<double> alpha(std::span<const double> r2, std::span<const double> p_A_p) {
    for (std::size_t i = 0; i < rhs_.size(); ++i)
      if (rhs_[i].active && is_breakdown(p_A_p[i])) {
        rhs_[i].done.outcome = CgOutcome::breakdown;
        rhs_[i].active = false;
      }
    const std::vector<double> alpha = ratio(r2, p_A_p);
    for (std::size_t i = 0; i < rhs_.size(); ++i)
      if (rhs_[i].active) rhs_[i].done.steps.push_back(alpha[i]);
    return alpha;
  }

  // numerator / denominator for active right-hand sides. The others get 0 and so stay as they are.
  std::vector<double> ratio(std::span<const double> numerator, std::span<const double> denominator) const {
    std::vector<double> result(rhs_.size(), 0);
    for (std::size_t i = 0; i < rhs_.size(); ++i)
      if (rhs_[i].active) result[i] = numerator[i] / denominator[i];
    return result;
  }

  // Ends an iteration: records the new |r|^2 of every active right-hand side, and applies the stop rule.
  void take_residuals(std::span<const double> r2) {
    for (std::size_t i = 0; i < rhs_.size(); ++i) {
      auto& [done, active, smallest, since_smallest, unused_root, unused_patient] = rhs_[i];
      if (!active) continue;
      const long window = stagnation_window_of(rhs_[i], stop_, i);
      done.history.push_back(r2[i]);
      done.iterations = long(done.history.size()) - 1;
      done.residual_norm = std::sqrt(r2[i]);
      active = !is_done(r2[i], stop_.target_norm[i], window, smallest, since_smallest, done.outcome) &&
               done.iterations < stop_.most_of(i);
      if (active) look_at_coefficients(rhs_[i], stop_, i, least_);
    }
  }

  // The largest |r| / target_norm, for progress.
  double worst_ratio() const {
    double worst = 0;
    for (std::size_t i = 0; i < rhs_.size(); ++i)
      worst = std::max(worst, rhs_[i].done.residual_norm / stop_.target_norm[i]);
    return worst;
  }
  CgProgress progress(long iteration) const { return {iteration, worst_ratio(), iterations_per_e(rhs_)}; }

 private:
  double least_;
  int least_active_ = 1;
};

}  // namespace staghorn
