#include "solver/krylov/reliable_updates.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "solver/eigen/deflation.hpp"
#include "solver/krylov/cg_recurrences.hpp"

namespace staghorn {

namespace {

// Where taking out eigenvectors makes a residual larger by more than this, the search begins anew.
constexpr double largest_growth = 3;

// The right-hand sides of a solve, by their residuals in high precision.
class UpdatedRhs : public RhsLedger {
 public:
  // `shift`: of the system.
  UpdatedRhs(const CgStop& stop, std::span<const double> r2, double shift)
      : RhsLedger(stop, r2), shift_(shift), deflated_at_(r2.size(), met_at_once) {}

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

  // Targets of the sloppy iterations until the next update.
  std::vector<double> targets_of_update(double largest_fall) const {
    const auto aim = [&](std::size_t i) { return sloppy_aim(stop_.target_norm[i]); };
    double rest = 1;
    for (std::size_t i = 0; i < rhs_.size(); ++i)
      if (rhs_[i].active) rest = std::min(rest, aim(i) / rhs_[i].done.residual_norm);
    const double fall = next_fall(largest_fall, rest);
    std::vector<double> targets;
    for (std::size_t i = 0; i < rhs_.size(); ++i)
      targets.push_back(rhs_[i].active ? std::max(fall * rhs_[i].done.residual_norm, aim(i)) : met_at_once);
    return targets;
  }

  // Records the sloppy iterations `found`, after which |r|^2 in high precision is `r2` instead of `before`. Returns the
  // most iterations of any right-hand side.
  long record_update(std::span<const SolvedRhs> found, std::span<const double> r2, std::span<const double> before) {
    long longest = 0;
    for (std::size_t i = 0; i < rhs_.size(); ++i) {
      SolvedRhs& rhs = rhs_[i].done;
      rhs.residual_norm = std::sqrt(r2[i]);
      if (!rhs_[i].active) continue;
      longest = std::max(longest, found[i].iterations);
      append_leg(rhs, found[i]);
      rhs.history.back() = r2[i];
      rhs.updates.push_back(rhs.iterations);
      if (found[i].iterations == 0 || r2[i] > largest_share_left * largest_share_left * before[i] ||
          rhs.iterations >= most_iterations(i)) {
        rhs.outcome = found[i].outcome == CgOutcome::breakdown ? CgOutcome::breakdown : CgOutcome::stagnated;
        rhs_[i].active = std::sqrt(r2[i]) <= stop_.target_norm[i];  // the stop rule then says that it is converged
      }
    }
    return longest;
  }

  // The iterations that some right-hand side may still take on the sloppy operator.
  long iterations_left() {
    long left = no_limit;
    for (std::size_t i = 0; i < rhs_.size(); ++i)
      if (rhs_[i].active) left = std::min(left, most_iterations(i) - rhs_[i].done.iterations);
    return left;
  }
  double iterations_per_e() const {
    double largest = 0;
    for (const Running& running : rhs_) largest = std::max(largest, running.root_condition);
    return staghorn::iterations_per_e(largest);
  }

  // What plain CG in high precision is asked for after all this, nothing if it has nothing to do: right-hand sides that
  // stagnated or broke down go on from where they are.
  std::optional<CgStop> rest(std::span<const double> r2) const {
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
    if (!any || rest.max_iterations <= 0) return {};
    return rest;
  }

  // Records what plain CG did with the rest.
  void record_rest(const CgStop& rest, std::span<const SolvedRhs> found) {
    for (std::size_t i = 0; i < rhs_.size(); ++i) {
      if (rest.target_norm[i] == met_at_once) continue;
      SolvedRhs& rhs = rhs_[i].done;
      rhs.outcome = found[i].outcome;
      rhs.residual_norm = found[i].residual_norm;
      append_leg(rhs, found[i]);
    }
  }

  void visit(const Archive& archive) {
    RhsLedger::visit(archive);
    archive("deflated_at", deflated_at_, deflated_at_.size());
  }

 private:
  long most_iterations(std::size_t i) {
    const long most = most_sloppy_iterations(rhs_[i], stop_.target_norm[i], shift_);
    return stop_.stagnation_window == 0 ? no_limit : most;
  }

  double shift_;
  std::vector<double> deflated_at_;  // the larger |r| of before and after the last projection; infinite at first
};

}  // namespace

double largest_fall(const ReliableUpdates& updates, const StaggeredOperator& sloppy, double shift) {
  // On free fields A has eigenvalues from 4 m^2 to 4 m^2 + 16, and CG gains `rate` an iteration. The first iterations
  // gain more, while large eigenvalues go; their rate would promise too much.
  const double mass = std::sqrt(shift) / 2;
  const double root = std::hypot(mass, 2), rate = (root - mass) / (root + mass);
  const bool fp16 = sloppy.options().precision == Precision::fp16;
  const bool eight_reals = sloppy.options().reconstruct == Reconstruct::su3_8;
  const double unknowns = 1.5 * double(sloppy.lattice().global_volume());
  const double spacing =
      std::min(fp16 ? updates.spacing_fp16 : updates.spacing_fp32, updates.most_unknowns_share * unknowns);
  const double gained = std::pow(rate, spacing);
  const double least = fp16 ? updates.least_fp16 * (eight_reals ? updates.least_ratio_8_reals : 1) : updates.least_fp32;
  return std::clamp(gained, least, updates.most);
}

double next_fall(double largest, double rest) {
  if (rest <= 0) return largest;
  return std::pow(rest, 1 / std::max(1.0, std::ceil(std::log(rest) / std::log(largest) - 0.1)));
}

long most_sloppy_iterations(Running& rhs, double target_norm, double shift) {
  const std::span history(rhs.done.history), steps(rhs.done.steps);
  if (rhs.root_condition == 0 && rhs.done.iterations >= first_look) {
    const SpectrumEstimate found =
        estimate_spectrum(history.first(std::min<std::size_t>(first_look + 1, history.size())),
                          steps.first(std::min<std::size_t>(first_look, steps.size())));
    rhs.root_condition = root_condition_of_shift(found.largest, shift);
  }
  const long bound = iteration_bound(rhs.root_condition, target_norm / std::sqrt(history[0]));
  return bound == 0 ? no_limit : most_bounds * bound;
}

CgResult MixedPrecisionCg::solve(const ParitySystem& system, ColorVectorField& x, const ColorVectorField& b,
                                 const CgStop& stop, const ShowProgress& show) {
  r_.copy_from(b);
  std::vector<ExactSum> sums = sums_of_sources(stop);
  const std::vector<double> r2 = system.d.norm2(r_, sums);
  return iterate(system, x, b, r2, std::move(sums), stop, show);
}

CgResult MixedPrecisionCg::go_on(const ParitySystem& system, ColorVectorField& x, const ColorVectorField& b,
                                 const CgStop& stop, const ShowProgress& show) {
  std::vector<ExactSum> sums = sums_of_sources(stop);
  r_.copy_from(b);  // r = b - A x
  const std::vector<double> r2 = subtract_product(system, x, r_, tmp_, sums);
  return iterate(system, x, b, r2, std::move(sums), stop, show);
}

// From r_ = b - A x, |r_|^2 = r2, the sums of which were `sums`.
CgResult MixedPrecisionCg::iterate(const ParitySystem& system, ColorVectorField& x, const ColorVectorField& b,
                                   std::vector<double> r2, std::vector<ExactSum> sums, const CgStop& stop,
                                   const ShowProgress& show) {
  const auto& [d, parity, shift] = system;
  const ParitySystem sloppy_system{sloppy_, parity, shift};
  CgState sloppy{sloppy_x_, inner_.r, inner_.p, inner_.tmp, {}, {}, &inner_.loop};
  const std::size_t n = stop.target_norm.size();
  std::vector<ExactSum> sloppy_sums = sums_of_sources(stop);
  const double largest = stop.deflation ? updates_.deflated : largest_fall(updates_, sloppy_, shift);
  CgResult result;

  UpdatedRhs rhs(stop, r2, shift);
  bool updated = false;  // tmp is D x
  long iterations = 0;
  bool in_rest = false;  // plain CG in high precision has begun

  const auto true_residual = [&](std::vector<ExactSum>& grids) {  // r = b - A x in high precision; tmp = D x
    r_.copy_from(b);
    return subtract_product(system, x, r_, tmp_, grids);
  };

  // The state between two updates is x, the sloppy direction, and these values; of plain CG it is that of its loop.
  const auto visit_updates = [&](const Archive& archive) {
    archive("rhs", rhs);
    archive("r2", r2, n);
    archive.count("iterations", iterations);
    archive("in_rest", in_rest);
    if (in_rest) return;
    archive("p2", sloppy.p2, n);
    archive_sums(archive, "bounds", sums);
    archive_sums(archive, "sloppy_bounds", sloppy_sums);
  };
  const auto visit = [&](const Archive& archive) { archive("mixed", visit_updates); };
  const Archive* const kept = stop.keeper ? stop.keeper->kept() : nullptr;
  if (kept) visit(*kept);
  if (kept && !in_rest) {
    stop.keeper->restore({&x, &sloppy.p});
    std::vector<ExactSum> unused = sums_of_sources(stop);
    true_residual(unused);
    updated = true;
  }
  while (!in_rest && rhs.apply_stop_rule(r2) && iterations < stop.max_iterations && !stop.is_interrupted()) {
    if (updated && stop.keeper && stop.keeper->is_due()) stop.keeper->keep({{&x, &sloppy.p}, visit});
    if (stop.deflation) {  // x += what the eigenvectors say of r;  r = b - A x
      const bool damps = stop.deflation->damps(parity);
      const std::vector<char> deflated = rhs.to_deflate(r2, damps ? Deflation::damped_drop : 1);
      if (std::find(deflated.begin(), deflated.end(), 1) != deflated.end()) {
        stop.deflation->project(d, parity, shift, r_, deflated, tmp_);
        d.combine(1, tmp_, 1, x);
        r2 = true_residual(sums);
        if (rhs.record_deflation(deflated, r2) || damps) updated = false;
        if (!rhs.apply_stop_rule(r2)) break;
      }
    }
    CgStop until_update = stop;
    until_update.keeper = nullptr;
    until_update.deflation = nullptr;
    until_update.until_first = true;
    until_update.restarted = true;
    until_update.max_iterations = std::min(stop.max_iterations - iterations, rhs.iterations_left());
    until_update.target_norm = rhs.targets_of_update(largest);

    sloppy.r.convert_from(r_);
    sloppy.r2 = sloppy_.norm2(sloppy.r, sloppy_sums);
    if (!updated) {  // the first direction is the residual; later ones go on from where they were
      sloppy.p.copy_from(sloppy.r);
      sloppy.p2 = sloppy.r2;
    }
    sloppy.x.set_zero();
    const double worst = rhs.worst_target_ratio(until_update.target_norm), per_e = rhs.iterations_per_e();
    const auto show_whole = [&](const CgProgress& at) {
      show({iterations + at.iteration, at.worst_ratio * worst, per_e});
    };
    const CgResult found =
        conjugate_gradient_loop(sloppy_system, sloppy, until_update, show ? show_whole : ShowProgress());
    result.form = found.form;

    // x += what the sloppy iterations found;  r = b - A x in high precision
    tmp_.convert_from(sloppy.x);
    d.combine(1, tmp_, 1, x);
    const std::vector<double> before = r2;
    r2 = true_residual(sums);
    updated = true;
    const long longest = rhs.record_update(found.rhs, r2, before);
    iterations += longest;
    if (longest == 0) break;
  }

  if (const std::optional<CgStop> rest = rhs.rest(r2); rest && !stop.is_interrupted()) {
    ColorVectorField p = d.make_vector();
    p.copy_from(r_);
    LoopMemory memory;
    CgState precise{x, r_, p, tmp_, r2, r2, nullptr, &memory};
    if (in_rest) {
      stop.keeper->restore({&x, &r_, &p});
      (*kept)("loop", precise);
    }
    in_rest = true;
    const CgResult found = kept_loop(system, precise, *rest, show, visit);
    result.precise_form = found.form;
    rhs.record_rest(*rest, found.rhs);
    updated = false;
  }
  if (!updated) d.hop(tmp_, x, opposite(parity));
  result.rhs = rhs.results();
  result.hop_of_x = &tmp_;
  return result;
}

}  // namespace staghorn
