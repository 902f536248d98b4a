// The shifts of multi-shift CG beside the seed: what each has done so far, and which are done.
#pragma once

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "solver/krylov/shifts/multi_shift.hpp"
#include "solver/krylov/shifts/shift_recurrences.hpp"

namespace staghorn {

// Rounding of A x by so much of |x| is borne where this many times the rounding is below the target (decision 032).
constexpr double rounding_adds_up = 8;

inline void visit_members(const Archive& archive, ShiftState& state) {
  archive("rho", state.rho);
  archive("zeta", state.zeta);
  archive("x2", state.x2);
  archive("x_p", state.x_p);
  archive("p2", state.p2);
}

class ShiftedRhs {
 public:
  // `stop`, `shifts` as in MultiShiftCg::solve; r2 = |b|^2 of each right-hand side.
  ShiftedRhs(std::span<const double> shifts, const ShiftedStop& stop, std::span<const double> r2)
      : shifts_(shifts), stop_(stop), n_rhs_(r2.size()), seed_(n_rhs_), rhs_((shifts.size() - 1) * n_rhs_) {
    for (std::size_t i = 0; i < n_rhs_; ++i) {
      seed_[i].p2 = r2[i];
      source_norm_.push_back(std::sqrt(r2[i]));
    }
    seed_norm_ = source_norm_;
    for (std::size_t pair = 0; pair < rhs_.size(); ++pair) {
      rhs_[pair].state.p2 = r2[pair % n_rhs_];
      take_residual(pair, r2[pair % n_rhs_]);
    }
    steps_.resize(rhs_.size());
    takes_part_.resize(rhs_.size());
  }

  // Whether every shift of the right-hand side that has a target is done.
  bool all_done(std::size_t i) const {
    for (std::size_t pair = i; pair < rhs_.size(); pair += n_rhs_)
      if (rhs_[pair].active && wanted(pair) > 0) return false;
    return true;
  }

  // Whether |r| of every seed has fallen to this share of |b|.
  bool has_fallen(double share) const {
    for (std::size_t i = 0; i < n_rhs_; ++i)
      if (seed_norm_[i] > share * source_norm_[i]) return false;
    return true;
  }

  // Whether rounding of A x by so much of |x| would not spoil what any x_k still lacks. That is taken to be as large
  // beside the residual as x_k is beside the source.
  bool bears(double rounding) const {
    const auto spoils = [&](std::size_t i, const ShiftState& state, double norm, double target) {
      return rounding_adds_up * rounding * std::sqrt(state.x2) / source_norm_[i] * norm > target;
    };
    for (std::size_t i = 0; i < n_rhs_; ++i)
      if (spoils(i, seed_[i], seed_norm_[i], stop_.target_norm[0][i])) return false;
    for (std::size_t pair = 0; pair < rhs_.size(); ++pair) {
      const Shift& shift = rhs_[pair];
      const double target = wanted(pair) > 0 ? wanted(pair) : stop_.target_norm[0][pair % n_rhs_];
      if (shift.active && spoils(pair % n_rhs_, shift.state, shift.done.residual_norm, target)) return false;
    }
    return true;
  }

  // The residual that the seed of the right-hand side is to reach.
  double target_of_seed(std::size_t i) const { return within_rounding(stop_.target_norm[0][i], seed_[i]); }

  // After an iteration of the seed: the steps of all shifts. A shift whose residual reaches its target takes this step
  // and no other. Where alpha is 0 the seed has ended, and its shifts with it.
  void advance(std::span<const double> alpha, std::span<const double> beta, std::span<const double> r2,
               std::span<const double> alpha_before, std::span<const double> beta_before) {
    for (std::size_t i = 0; i < n_rhs_; ++i) {
      grow_norms(seed_[i], {alpha[i], beta[i], 1}, r2[i]);
      seed_norm_[i] = std::sqrt(r2[i]);
    }
    for (std::size_t pair = 0; pair < rhs_.size(); ++pair) {
      const std::size_t i = pair % n_rhs_;
      takes_part_[pair] = rhs_[pair].active && alpha[i] > 0;
      if (!takes_part_[pair]) continue;
      const double sigma = shifts_[pair / n_rhs_ + 1] - shifts_[0];
      steps_[pair] =
          next_shifted_step(rhs_[pair].state, sigma, alpha[i], beta[i], alpha_before.empty() ? 0 : alpha_before[i],
                            beta_before.empty() ? 0 : beta_before[i]);
      grow_norms(rhs_[pair].state, steps_[pair], r2[i]);
      take_residual(pair, r2[i]);
    }
  }
  std::span<const ShiftedStep<double>> steps() const { return steps_; }
  std::span<const char> takes_part() const { return takes_part_; }

  // The largest |r| / target of all active shifts.
  double worst_ratio() const {
    double worst = 0;
    for (const Shift& shift : rhs_)
      if (shift.active) worst = std::max(worst, shift.ratio);
    return worst;
  }

  // [shift][right-hand side], the seed first. A shift that is not done ended as its seed did.
  std::vector<std::vector<SolvedRhs>> results(std::vector<SolvedRhs> seed) {
    std::vector<std::vector<SolvedRhs>> results(shifts_.size());
    for (std::size_t pair = 0; pair < rhs_.size(); ++pair) {
      SolvedRhs& done = rhs_[pair].done;
      if (rhs_[pair].active) done.outcome = seed[pair % n_rhs_].outcome;  // with target 0 that is all it wants
      results[pair / n_rhs_ + 1].push_back(std::move(done));
    }
    results[0] = std::move(seed);
    return results;
  }

  // From now on x_k is what the solutions so far lack.
  void begin_solutions() {
    for (ShiftState& state : seed_) state.x2 = state.x_p = 0;
    for (Shift& shift : rhs_) shift.state.x2 = shift.state.x_p = 0;
  }

  void visit(const Archive& archive) {
    archive("shifts", rhs_, rhs_.size());
    archive("seed", seed_, seed_.size());
  }

 private:
  struct Shift : Running {
    ShiftState state;
    double ratio = 0;  // of the last iteration, for progress
    void visit(const Archive& archive) {
      Running::visit(archive);
      archive("state", state);
    }
  };

  double wanted(std::size_t pair) const { return stop_.target_norm[pair / n_rhs_ + 1][pair % n_rhs_]; }
  // Below this residual the steps gain nothing: rounding has changed A x by as much.
  double within_rounding(double wanted, const ShiftState& state) const {
    return std::max(wanted, stop_.rounding * std::sqrt(state.x2));
  }

  void take_residual(std::size_t pair, double r2) {
    Shift& shift = rhs_[pair];
    const double zeta = shift.state.zeta, norm = zeta * std::sqrt(r2);
    shift.done.history.push_back(norm * norm);
    shift.done.iterations = long(shift.done.history.size()) - 1;
    shift.done.residual_norm = norm;
    const double target = within_rounding(wanted(pair), shift.state);
    shift.ratio = wanted(pair) > 0 ? norm / target : 0;
    shift.active = !is_done(norm * norm, target, shift.done.outcome);
  }

  std::span<const double> shifts_;
  const ShiftedStop& stop_;
  std::size_t n_rhs_;
  std::vector<ShiftState> seed_;
  std::vector<double> source_norm_, seed_norm_;  // |b|, and |r| of the seed
  std::vector<Shift> rhs_;
  std::vector<ShiftedStep<double>> steps_;
  std::vector<char> takes_part_;
};

}  // namespace staghorn
