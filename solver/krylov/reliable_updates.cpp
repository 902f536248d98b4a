#include "solver/krylov/reliable_updates.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "solver/eigen/deflation.hpp"
#include "solver/krylov/cg_recurrences.hpp"
#include "solver/krylov/updated_rhs.hpp"

namespace staghorn {

UpdatePlan update_plan(const ReliableUpdates& updates, const StaggeredOperator& sloppy, double shift, bool deflates) {
  const bool fp16 = sloppy.options().precision == Precision::fp16;
  const bool eight_reals = sloppy.options().reconstruct == Reconstruct::su3_8;
  const ReliableUpdates::Limits& limits = fp16 ? updates.fp16 : updates.fp32;
  const double condition = (16 + shift) / shift;  // of A on free fields; infinite for a mass of 0
  const double light = std::max(limits.least_share, std::min(1.0, updates.heavy_condition / condition));
  const double fall = limits.fall * (fp16 && eight_reals ? updates.ratio_8_reals : 1);
  const long shortest = fp16 && eight_reals ? updates.shortest_8_reals : updates.shortest;
  // In exact arithmetic CG ends after so many iterations. fp16 may have no eigenvalues as small: it is given up soon.
  const double unknowns = 1.5 * double(sloppy.layout().lattice().global_volume());
  return {deflates ? updates.deflated : fall, limits.mismatch * light, shortest, fp16 ? 0 : unknowns};
}

ResidualReplacement::ResidualReplacement(StaggeredOperator& sloppy)
    : sloppy_(sloppy), algebra_(sloppy.communicator(), sloppy.layout(), sloppy.kernels()) {}

std::vector<double> ResidualReplacement::dot(const ColorVectorField& a, const ColorVectorField& b) const {
  std::vector<double> parts;
  for (const Complex<double>& product : algebra_.dot(a, b)) parts.push_back(product.re);
  return parts;
}

std::vector<double> ResidualReplacement::replace(CgState& search, const std::vector<double>& exact2,
                                                 Parity parity) const {
  auto& [x, r, p, exact, r2, p2, unused_loop, unused_memory] = search;
  const std::size_t n = r2.size();
  const std::vector<double> with_r = dot(exact, r), with_p = dot(exact, p);
  std::vector<double> mismatch(n, 0), along(n), inverse(n), back(n);
  for (std::size_t i = 0; i < n; ++i) {
    const double difference2 = (exact2[i] - with_r[i]) + (r2[i] - with_r[i]);
    if (exact2[i] > 0) mismatch[i] = std::sqrt(std::max(difference2, 0.0) / exact2[i]);
    // The share of `exact` in q. It is not zero but by chance: then a tiny one does no harm.
    const double share = exact2[i] > 0 ? (with_p[i] - with_r[i]) / exact2[i] : 0;
    along[i] = std::fabs(share) >= 0x1p-30 ? share : 0x1p-30;
    inverse[i] = 1 / along[i];
    back[i] = r2[i] > 0 ? -along[i] * (exact2[i] / r2[i]) : 0;
  }
  const std::vector<double> stays(n, 0);
  const auto add = [&](const ColorVectorField& to, const std::vector<double>& factor, std::vector<ExactSum> sums) {
    return sloppy_.update_direction(x, p, to, parity, stays, factor, sums);  // p = to + factor p
  };
  add(r, std::vector<double>(n, -1), {});  // -q
  add(exact, inverse, {});                 // exact - q / along, to which `exact` is orthogonal
  p2 = add(exact, back, sums_near(exact2));
  r.copy_from(exact);
  r2 = exact2;
  return mismatch;
}

namespace {

// A search between two updates, but for its vectors.
void archive_search(const Archive& archive, CgState& search, std::vector<ExactSum>& sums,
                    std::vector<ExactSum>& sloppy_sums) {
  archive("sloppy_r2", search.r2, sums.size());
  archive("p2", search.p2, sums.size());
  archive_sums(archive, "bounds", sums);
  archive_sums(archive, "sloppy_bounds", sloppy_sums);
}

// A search that begins with the residual.
void begin_search(StaggeredOperator& d, CgState& search, const ColorVectorField& r, std::vector<ExactSum>& sums) {
  search.r.convert_from(r);
  search.p.copy_from(search.r);
  search.r2 = search.p2 = d.norm2(search.r, sums);
}

}  // namespace

CgResult MixedPrecisionCg::solve(const ParitySystem& system, ColorVectorField& x, const ColorVectorField& b,
                                 const CgStop& stop, const ShowProgress& show) {
  const auto& [d, parity, shift] = system;
  CgState sloppy{sloppy_x_, inner_.r, inner_.p, inner_.tmp, {}, {}, &inner_.loop};
  const std::size_t n = stop.target_norm.size();
  std::vector<ExactSum> sums = sums_of_sources(stop), sloppy_sums = sums;
  r_.copy_from(b);
  std::vector<double> r2 = d.norm2(r_, sums);
  CgResult result;

  UpdatedRhs rhs(stop, r2, shift, update_plan(updates_, sloppy_, shift, stop.deflation));
  bool updated = false;  // tmp is D x, and r and p of the search are those to go on from
  long iterations = 0;
  bool in_rest = false;  // plain CG in high precision has begun

  // The state between two updates is x, the sloppy direction, and these values; of plain CG it is that of its loop.
  const auto visit_updates = [&](const Archive& archive) {
    archive("rhs", rhs);
    archive("r2", r2, n);
    archive.count("iterations", iterations);
    archive("in_rest", in_rest);
    if (!in_rest) archive_search(archive, sloppy, sums, sloppy_sums);
  };
  const auto visit = [&](const Archive& archive) { archive("mixed", visit_updates); };
  const Archive* const kept = stop.keeper ? stop.keeper->kept() : nullptr;
  if (kept) visit(*kept);
  if (kept && !in_rest) {
    stop.keeper->restore({&x, &sloppy.p});
    std::vector<ExactSum> unused = sums_of_sources(stop);
    residual(system, x, b, r_, tmp_, unused);
    sloppy.r.convert_from(r_);
    updated = true;
  }
  const auto replace_by_true = [&, parity = parity] {
    sloppy.tmp.convert_from(r_);
    return replacement_.replace(sloppy, sloppy_.norm2(sloppy.tmp, sloppy_sums), parity);
  };
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
        if (updated) replace_by_true();
      }
    }
    const CgStop until_update = rhs.until_update(iterations);
    if (!updated) begin_search(sloppy_, sloppy, r_, sloppy_sums);
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
    r2 = residual(system, x, b, r_, tmp_, sums);
    updated = true;
    iterations += rhs.record_update(found.rhs, r2, replace_by_true());
  }

  const Archive* const kept_rest = std::exchange(in_rest, true) ? kept : nullptr;
  result.precise_form = rhs.iterate_rest(system, x, r_, tmp_, r2, show, kept_rest, visit);
  if (!updated || result.precise_form) d.hop(tmp_, x, opposite(parity));
  result.rhs = rhs.results();
  result.hop_of_x = &tmp_;
  return result;
}

}  // namespace staghorn
