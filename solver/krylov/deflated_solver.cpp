#include "solver/krylov/deflated_solver.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "solver/eigen/deflation.hpp"
#include "solver/krylov/cg_recurrences.hpp"
#include "solver/krylov/rhs_ledger.hpp"

namespace staghorn {

namespace {

// Right-hand sides over the rounds of a solve.
class Rounds : public RhsLedger {
 public:
  using RhsLedger::RhsLedger;
  long iterations() const { return iterations_; }

  // After eigenvectors were taken out: |r|^2 in the place of what it was. Returns whether there is more to do.
  bool take_deflated(std::span<const double> r2) {
    for (std::size_t i = 0; i < rhs_.size(); ++i) {
      if (!rhs_[i].active) continue;
      rhs_[i].done.history.back() = r2[i];
      rhs_[i].done.residual_norm = std::sqrt(r2[i]);
    }
    return apply_stop_rule(r2) && iterations_ < stop_.max_iterations && !stop_.is_interrupted();
  }

  // What the solver is asked for next. A target of a right-hand side that is done is met at once.
  CgStop next(double drop) const {
    CgStop next = stop_;
    next.deflation = nullptr;
    next.max_iterations = stop_.max_iterations - iterations_;
    for (std::size_t i = 0; i < rhs_.size(); ++i)
      next.target_norm[i] =
          rhs_[i].active ? std::max(stop_.target_norm[i], drop * rhs_[i].done.residual_norm) : met_at_once;
    return next;
  }

  // |r|^2 of each right-hand side.
  std::vector<double> norm2() const {
    std::vector<double> norm2;
    for (const Running& rhs : rhs_) norm2.push_back(rhs.done.residual_norm * rhs.done.residual_norm);
    return norm2;
  }

  // Records what the solver did with `asked`. Returns whether right-hand sides are left that met what was asked for,
  // but not yet their own target.
  bool record(const CgStop& asked, std::span<const SolvedRhs> found) {
    append_legs(found);
    long longest = 0;
    for (std::size_t i = 0; i < rhs_.size(); ++i) {
      if (!rhs_[i].active) continue;
      SolvedRhs& rhs = rhs_[i].done;
      longest = std::max(longest, found[i].iterations);
      if (rhs.outcome != CgOutcome::converged || asked.target_norm[i] == stop_.target_norm[i])
        rhs_[i].active = false;
      else if (rhs.updates.empty() || rhs.updates.back() < rhs.iterations)
        rhs.updates.push_back(rhs.iterations);
    }
    iterations_ += longest;
    return longest > 0 && count_active() > 0;
  }

  void visit(const Archive& archive) {
    RhsLedger::visit(archive);
    archive.count("iterations", iterations_);
  }

 private:
  long iterations_ = 0;  // the most of any right-hand side in each round, added up
};

}  // namespace

DeflatedSolver::DeflatedSolver(const StaggeredOperator& d, std::unique_ptr<KrylovSolver> solver)
    : solver_(std::move(solver)), r_(d.make_vector()), e_(d.make_vector()), tmp_(d.make_vector()) {}

std::int64_t DeflatedSolver::bytes() const { return solver_->bytes() + r_.bytes() + e_.bytes() + tmp_.bytes(); }

CgResult DeflatedSolver::solve(const ParitySystem& system, ColorVectorField& x, const ColorVectorField& b,
                               const CgStop& stop, const ShowProgress& show) {
  if (!stop.deflation) return solver_->solve(system, x, b, stop, show);
  const auto& [d, parity, shift] = system;
  const bool precise = stop.deflation->precision() == d.options().precision && parity == stop.deflation->parity();
  const bool damps = stop.deflation->damps(parity);
  const double drop = precise ? 0 : damps ? Deflation::damped_drop : DeflatedSolver::drop;

  std::vector<ExactSum> sums = sums_of_sources(stop);
  r_.copy_from(b);
  Rounds rounds(stop, d.norm2(r_, sums));
  CgResult result;
  std::optional<NestedKeeper> keeper;
  const auto visit_rounds = [&](const Archive& archive) {
    archive("rounds", rounds);
    archive_sums(archive, "bounds", sums);
    archive("took_over", result.took_over);
  };
  const auto visit = [&](const Archive& archive) { archive("deflated", visit_rounds); };
  if (stop.keeper) keeper.emplace(*stop.keeper, std::vector<ColorVectorField*>{&x, &r_}, visit);
  const Archive* const kept = keeper ? keeper->kept() : nullptr;
  if (kept) visit(*kept);
  bool in_round = kept != nullptr;  // a state of the solver is there, from which it goes on
  for (bool more = true; more;) {
    if (!std::exchange(in_round, false)) {
      // x += what the eigenvectors say of r;  r = b - A x
      stop.deflation->project(d, parity, shift, r_, rounds.active(), e_);
      d.combine(1, e_, 1, x);
      if (!rounds.take_deflated(residual(system, x, b, r_, tmp_, sums))) break;
    }

    CgStop next = rounds.next(drop);
    // Damped rounds go on to residuals that the grid of sums near 1 does not resolve.
    if (damps) next.source_norm2 = rounds.norm2();
    next.keeper = keeper ? &*keeper : nullptr;
    const double worst = rounds.worst_target_ratio(next.target_norm);
    const auto show_whole = [&](const CgProgress& at) {
      show({rounds.iterations() + at.iteration, at.worst_ratio * worst, at.iterations_per_e});
    };
    e_.set_zero();
    CgResult found = solver_->solve(system, e_, r_, next, show ? show_whole : ShowProgress());
    result.form = found.form;
    result.precise_form = found.precise_form;
    if (result.took_over.empty()) result.took_over = found.took_over;
    d.combine(1, e_, 1, x);
    more = rounds.record(next, found.rhs);
    if (!more) break;
    residual(system, x, b, r_, tmp_, sums);
  }
  result.rhs = rounds.results();
  return result;
}

}  // namespace staghorn
