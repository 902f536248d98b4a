#include "solver/krylov/reliable_updates.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "solver/eigen/deflation.hpp"
#include "solver/krylov/cg_recurrences.hpp"
#include "solver/krylov/updated_rhs.hpp"

namespace staghorn {

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
  const std::vector<double> r2 = residual(system, x, b, r_, tmp_, sums);
  return iterate(system, x, b, r2, std::move(sums), stop, show);
}

// From r_ = b - A x, |r_|^2 = r2, the sums of which were `sums`.
CgResult MixedPrecisionCg::iterate(const ParitySystem& system, ColorVectorField& x, const ColorVectorField& b,
                                   std::vector<double> r2, std::vector<ExactSum> sums, const CgStop& stop,
                                   const ShowProgress& show) {
  const auto& [d, parity, shift] = system;
  CgState sloppy{sloppy_x_, inner_.r, inner_.p, inner_.tmp, {}, {}, &inner_.loop};
  const std::size_t n = stop.target_norm.size();
  std::vector<ExactSum> sloppy_sums = sums_of_sources(stop);
  const double largest = stop.deflation ? updates_.deflated : largest_fall(updates_, sloppy_, shift);
  CgResult result;

  UpdatedRhs rhs(stop, r2, shift);
  bool updated = false;  // tmp is D x
  long iterations = 0;
  bool in_rest = false;  // plain CG in high precision has begun

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
    residual(system, x, b, r_, tmp_, unused);
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
        r2 = residual(system, x, b, r_, tmp_, sums);
        if (rhs.record_deflation(deflated, r2) || damps) updated = false;
        if (!rhs.apply_stop_rule(r2)) break;
      }
    }
    const CgStop until_update = rhs.until_update(iterations, largest);
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
        conjugate_gradient_loop({sloppy_, parity, shift}, sloppy, until_update, show ? show_whole : ShowProgress());
    result.form = found.form;

    // x += what the sloppy iterations found;  r = b - A x in high precision
    tmp_.convert_from(sloppy.x);
    d.combine(1, tmp_, 1, x);
    const std::vector<double> before = r2;
    r2 = residual(system, x, b, r_, tmp_, sums);
    updated = true;
    iterations += rhs.record_update(found.rhs, r2, before);
  }

  const Archive* const kept_rest = std::exchange(in_rest, true) ? kept : nullptr;
  result.precise_form = rhs.iterate_rest(system, x, r_, tmp_, r2, show, kept_rest, visit);
  if (!updated || result.precise_form) d.hop(tmp_, x, opposite(parity));
  result.rhs = rhs.results();
  result.hop_of_x = &tmp_;
  return result;
}

}  // namespace staghorn
