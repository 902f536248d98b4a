// Right-hand sides whose iterations run in low precision, as their residuals in high precision tell: what they have
// done, how far they go until the next update, and their rest, where low precision can do no more.
#pragma once

#include <algorithm>
#include <cmath>
#include <optional>
#include <span>
#include <vector>

#include "solver/krylov/aims.hpp"
#include "solver/krylov/cg_recurrences.hpp"
#include "solver/krylov/conjugate_gradient.hpp"
#include "solver/krylov/rhs_ledger.hpp"

namespace staghorn {

// When the residual is recomputed: once it has fallen by the factor `fall`, or after so many iterations that the sloppy
// one is off by about the share `mismatch` of it.
struct UpdatePlan {
  double fall, mismatch;
  long shortest_interval = cg_refresh_interval;
  // At light masses |r| stands for a good part of all iterations before it falls. So many are waited for, more than a
  // stagnation window, where the coefficients of CG foresee them.
  double most_patience = 0;
};

// How many iterations there are between updates: as many as let about the share `mismatch` gather.
class UpdateInterval {
 public:
  UpdateInterval(double mismatch, long shortest) : mismatch_(mismatch), shortest_(shortest) {}
  long longest() const { return interval_; }

  // So many iterations after an update the sloppy residual was off by this share: what gathers grows about as they do.
  void record(long iterations, double mismatch) {
    if (iterations == 0) return;
    const double factor = mismatch >= 0 ? std::clamp(mismatch_ / mismatch, 0.5, 2.0) : 0.5;  // NaN is the worst
    const long wanted = long(double(iterations) * factor) / cg_refresh_interval * cg_refresh_interval;
    if (factor < 1 || iterations >= interval_) interval_ = std::clamp(wanted, shortest_, most);
  }
  void visit(const Archive& archive) { archive("longest", interval_); }

 private:
  // The first one, and the most. Multiples of cg_refresh_interval.
  static constexpr long first = 64, most = 4096;
  double mismatch_;
  long shortest_, interval_ = first;
};

class UpdatedRhs : public RhsLedger {
 public:
  // |r|^2 = r2 begins each history. `shift`: of the system. `stop` must outlive the object.
  UpdatedRhs(const CgStop& stop, std::span<const double> r2, double shift, const UpdatePlan& plan)
      : RhsLedger(stop, r2),
        shift_(shift),
        plan_(plan),
        interval_(plan.mismatch, plan.shortest_interval),
        lost_(r2.size(), 0),
        deflated_at_(r2.size(), met_at_once) {}

  bool apply_stop_rule(std::span<const double> r2) {
    for (std::size_t i = 0; i < rhs_.size(); ++i) rhs_[i].done.residual_norm = std::sqrt(r2[i]);
    return RhsLedger::apply_stop_rule(r2);
  }

  // The right-hand sides whose residual loses eigenvectors now: all that are active, once one of them has fallen by
  // `drop` below what it was when they were last taken out of it, or what they made of it, if that was more.
  std::vector<char> to_deflate(std::span<const double> r2, double drop) {
    std::vector<char> deflated(rhs_.size());
    for (std::size_t i = 0; i < rhs_.size(); ++i)
      if (rhs_[i].active && std::sqrt(r2[i]) <= 1.05 * drop * deflated_at_[i]) deflated = active();
    for (std::size_t i = 0; i < rhs_.size(); ++i)
      if (deflated[i]) deflated_at_[i] = std::sqrt(r2[i]);
    return deflated;
  }

  // |r|^2 of the same iterations after eigenvectors were taken out. Returns whether some residual has grown so much
  // that the search direction of before says nothing of it.
  bool record_deflation(std::span<const char> deflated, std::span<const double> r2) {
    bool grown = false;
    for (std::size_t i = 0; i < rhs_.size(); ++i) {
      if (!deflated[i]) continue;
      rhs_[i].done.history.back() = r2[i];
      grown = grown || std::sqrt(r2[i]) > largest_growth * deflated_at_[i];
      deflated_at_[i] = std::max(deflated_at_[i], std::sqrt(r2[i]));
    }
    return grown;
  }

  // Targets of the sloppy iterations until the next update. All falls that are left are alike; each may be a little
  // more than the largest, which saves an update.
  std::vector<double> targets_of_update() const {
    const auto aim = [&](std::size_t i) { return sloppy_aim(stop_.target_norm[i]); };
    double rest = 1;
    for (std::size_t i = 0; i < rhs_.size(); ++i)
      if (rhs_[i].active) rest = std::min(rest, aim(i) / rhs_[i].done.residual_norm);
    const auto falls = [&] { return std::max(1.0, std::ceil(std::log(rest) / std::log(plan_.fall) - 0.1)); };
    const double fall = rest > 0 ? std::pow(rest, 1 / falls()) : plan_.fall;
    std::vector<double> targets;
    for (std::size_t i = 0; i < rhs_.size(); ++i)
      targets.push_back(rhs_[i].active ? std::max(fall * rhs_[i].done.residual_norm, aim(i)) : met_at_once);
    return targets;
  }

  // What sloppy iterations are asked for until the next update, after so many `iterations` in all.
  CgStop until_update(long iterations) {
    CgStop next = stop_;
    next.keeper = nullptr;
    next.deflation = nullptr;
    next.until_first = true;
    next.restarted = true;
    next.max_iterations = std::min({stop_.max_iterations - iterations, iterations_left(), interval_.longest()});
    next.target_norm = targets_of_update();
    return next;
  }

  // The iterations that some right-hand side may still take on the sloppy operator.
  long iterations_left() {
    long left = no_limit;
    for (std::size_t i = 0; i < rhs_.size(); ++i)
      if (rhs_[i].active)
        left = std::min(left, std::min(stop_.max_iterations, most_iterations(i)) - rhs_[i].done.iterations);
    return left;
  }
  double iterations_per_e() const {
    double largest = 0;
    for (const Running& running : rhs_) largest = std::max(largest, running.root_condition);
    return staghorn::iterations_per_e(largest);
  }

  // The most iterations until the next update.
  long interval() const { return interval_.longest(); }

  // Records the sloppy iterations `found`, after which |r|^2 in high precision is `r2`, and the sloppy residual was off
  // by the share `mismatch` of it. Returns the most iterations of any right-hand side.
  long record_update(std::span<const SolvedRhs> found, std::span<const double> r2, std::span<const double> mismatch) {
    long longest = 0;
    double worst = 0;
    for (std::size_t i = 0; i < rhs_.size(); ++i) {
      if (!rhs_[i].active) continue;
      SolvedRhs& rhs = rhs_[i].done;
      longest = std::max(longest, found[i].iterations);
      worst = mismatch[i] <= worst ? worst : mismatch[i];  // NaN is the worst
      append_leg(rhs, found[i]);
      rhs.history.back() = r2[i];
      rhs.updates.push_back(rhs.iterations);
      rhs.mismatches.push_back(mismatch[i]);
      lost_[i] = mismatch[i] <= largest_mismatch ? 0 : lost_[i] + 1;
      const bool gained = r2[i] <= largest_share_left * largest_share_left * rhs_[i].smallest;
      if (gained) rhs_[i].smallest = r2[i];
      rhs_[i].since_smallest = gained ? 0 : rhs_[i].since_smallest + found[i].iterations;
      const long most = most_iterations(i), window = std::max(window_of(i), 3 * rhs.iterations / 4);
      const bool gains = found[i].iterations > 0 && lost_[i] < most_lost && rhs.iterations < most &&
                         !(stop_.stagnation_window > 0 && rhs_[i].since_smallest >= window);
      const bool broke_down = found[i].outcome == CgOutcome::breakdown;
      rhs.outcome = broke_down ? CgOutcome::breakdown : gains ? CgOutcome::out_of_iterations : CgOutcome::stagnated;
      if (broke_down || !gains) rhs_[i].active = std::sqrt(r2[i]) <= stop_.target_norm[i];  // the stop rule: converged
    }
    interval_.record(longest, worst);
    return longest;
  }

  // Plain CG in high precision goes on with right-hand sides that stagnated or broke down, from r = b - A x with |r|^2
  // = r2. `kept`: the state of such a loop, from which it goes on; `visit`: what is kept beside that of the loop.
  // Returns the form of the loop, nothing where there is nothing to do. Collective.
  std::optional<LoopForm> iterate_rest(const ParitySystem& system, ColorVectorField& x, ColorVectorField& r,
                                       ColorVectorField& tmp, const std::vector<double>& r2, const ShowProgress& show,
                                       const Archive* kept = nullptr, const VisitState& visit = {}) {
    CgStop rest = stop_;
    bool any = false;
    for (std::size_t i = 0; i < rhs_.size(); ++i) {
      const SolvedRhs& rhs = rhs_[i].done;
      const bool gave_up = rhs.outcome == CgOutcome::stagnated || rhs.outcome == CgOutcome::breakdown;
      rest.max_iterations = std::min(rest.max_iterations, stop_.max_iterations - rhs.iterations);
      if (gave_up && std::isfinite(r2[i]) && r2[i] > 0)
        any = true;
      else
        rest.target_norm[i] = met_at_once;
    }
    if (!any || rest.max_iterations <= 0 || stop_.is_interrupted()) return {};
    ColorVectorField p = system.d.make_vector();
    p.copy_from(r);
    LoopMemory memory;
    CgState state{x, r, p, tmp, r2, r2, nullptr, &memory};
    if (kept) {
      stop_.keeper->restore({&x, &r, &p});
      (*kept)("loop", state);
    }
    const CgResult found = kept_loop(system, state, rest, show, visit);
    for (std::size_t i = 0; i < rhs_.size(); ++i)
      if (rest.target_norm[i] != met_at_once) append_leg(rhs_[i].done, found.rhs[i]);
    return found.form;
  }

  void visit(const Archive& archive) {
    RhsLedger::visit(archive);
    archive("interval", interval_);
    archive("lost", lost_, lost_.size());
    archive("deflated_at", deflated_at_, deflated_at_.size());
  }

 private:
  // The sloppy operator can do no more once so many updates in a row found the residual off by so large a share, or
  // three quarters of all iterations, and a window of them, left more than largest_share_left of it.
  static constexpr double largest_mismatch = 0.5;
  static constexpr long most_lost = 4;
  // Where taking out eigenvectors makes a residual larger by more than this, the search begins anew.
  static constexpr double largest_growth = 3;

  // The most iterations on the sloppy operator, once there were first_look of them: far more than such a matrix allows;
  // no_limit before. Updates spoil what coefficients say of small eigenvalues: these are taken to be as small as the
  // shift allows. Sets the root condition.
  long most_iterations(std::size_t i) {
    Running& rhs = rhs_[i];
    const std::span history(rhs.done.history), steps(rhs.done.steps);
    if (rhs.root_condition == 0 && rhs.done.iterations >= first_look) {
      const SpectrumEstimate found =
          estimate_spectrum(history.first(std::min<std::size_t>(first_look + 1, history.size())),
                            steps.first(std::min<std::size_t>(first_look, steps.size())));
      rhs.root_condition = root_condition_of_shift(found.largest, shift_);
    }
    const long bound = bound_of(i);
    return bound == 0 || stop_.stagnation_window == 0 ? no_limit : most_bounds * bound;
  }

  // Iterations that CG needs at most in exact arithmetic; 0 before first_look.
  long bound_of(std::size_t i) const {
    const Running& rhs = rhs_[i];
    return iteration_bound(rhs.root_condition, stop_.target_norm[i] / std::sqrt(rhs.done.history[0]));
  }

  long window_of(std::size_t i) const {
    const double patience = std::min(double(bound_of(i) / 8), plan_.most_patience);
    return stop_.stagnation_window == 0 ? 0 : std::max(stop_.stagnation_window, long(patience));
  }

  double shift_;
  UpdatePlan plan_;
  UpdateInterval interval_;
  std::vector<long> lost_;           // updates in a row
  std::vector<double> deflated_at_;  // the larger |r| of before and after the last projection; infinite at first
};

}  // namespace staghorn
