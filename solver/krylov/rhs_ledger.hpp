// What each right-hand side of a search has done, and whether it goes on: the record that loops share.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "solver/krylov/krylov_solver.hpp"
#include "solver/search/search_keeper.hpp"

namespace staghorn {

// A right-hand side, and what the stop rule remembers of it.
struct Running {
  SolvedRhs done;
  bool active = true;
  double smallest = std::numeric_limits<double>::infinity();
  long since_smallest = 0;
  double root_condition = 0;  // that bounds its iterations; 0: not known yet
  bool patient = false;       // of the stop
  void visit(const Archive& archive);
};

// The stop rule for a residual that was computed anew. Nothing stagnates by it: loops judge what was gained since the
// last one.
inline bool is_done(double r2, double target, CgOutcome& outcome) {
  double smallest = met_at_once;
  long since_smallest = 0;
  return is_done(r2, target, 0L, smallest, since_smallest, outcome);
}

// What the search `leg` did after its first residual follows what `to` did, and how it ended counts. Local.
void append_leg(SolvedRhs& to, const SolvedRhs& leg);

class RhsLedger {
 public:
  // `stop` must outlive the ledger.
  RhsLedger(const CgStop& stop, std::vector<Running> rhs) : stop_(stop), rhs_(std::move(rhs)) {}
  // |r|^2 = r2 begins each history.
  RhsLedger(const CgStop& stop, std::span<const double> r2) : RhsLedger(stop, std::vector<Running>(r2.size())) {
    for (std::size_t i = 0; i < r2.size(); ++i) rhs_[i].done.history.push_back(r2[i]);
  }

  int count_active() const {
    return int(std::count_if(rhs_.begin(), rhs_.end(), [](const Running& running) { return running.active; }));
  }
  std::vector<char> active() const {
    std::vector<char> active;
    for (const Running& running : rhs_) active.push_back(running.active);
    return active;
  }

  // Ends right-hand sides that are done by their |r|^2, computed anew, or out of iterations. Returns whether any is
  // left.
  bool apply_stop_rule(std::span<const double> r2) {
    for (std::size_t i = 0; i < rhs_.size(); ++i) {
      SolvedRhs& rhs = rhs_[i].done;
      rhs_[i].active =
          rhs_[i].active && !is_done(r2[i], stop_.target_norm[i], rhs.outcome) && rhs.iterations < stop_.max_iterations;
    }
    return count_active() > 0;
  }

  // Active right-hand sides went on by another search. Coefficients of several searches say nothing.
  void append_legs(std::span<const SolvedRhs> found) {
    for (std::size_t i = 0; i < rhs_.size(); ++i) {
      if (!rhs_[i].active) continue;
      append_leg(rhs_[i].done, found[i]);
      rhs_[i].done.steps.clear();
    }
  }

  // The largest target of an active right-hand side relative to its target in the end.
  double worst_target_ratio(std::span<const double> targets) const {
    double worst = 0;
    for (std::size_t i = 0; i < rhs_.size(); ++i)
      if (rhs_[i].active) worst = std::max(worst, targets[i] / stop_.target_norm[i]);
    return worst;
  }

  std::vector<SolvedRhs> results() {
    std::vector<SolvedRhs> results;
    for (Running& running : rhs_) results.push_back(std::move(running.done));
    return results;
  }
  void visit(const Archive& archive) { archive("rhs", rhs_, rhs_.size()); }

 protected:
  const CgStop& stop_;
  std::vector<Running> rhs_;
};

// Running sums, one for each right-hand side: their bounds, which set their last bits. Local.
void archive_sums(const Archive& archive, const char* name, std::vector<ExactSum>& sums);

}  // namespace staghorn
