#include "solver/krylov/reliable_updates.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace staghorn {

namespace {

// An update that leaves more than this share of the residual has met the end of what the sloppy operator can do.
constexpr double least_gain = 0.9;

// Where the sloppy operator can do no more, plain CG goes on from what it reached. r = b - A x. Returns how it ran, or
// nothing where there was nothing left to do.
std::optional<LoopForm> go_on_in_high_precision(StaggeredOperator& d, double mass, Parity parity, ColorVectorField& x,
                                                ColorVectorField& r, ColorVectorField& tmp,
                                                const std::vector<double>& r2, const CgStop& stop,
                                                std::vector<CgColumn>& columns,
                                                const std::function<void(const CgProgress&)>& progress) {
  CgStop rest = stop;
  bool any = false;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const bool gave_up = columns[i].outcome == CgOutcome::stagnated || columns[i].outcome == CgOutcome::breakdown;
    rest.max_iterations = std::min(rest.max_iterations, stop.max_iterations - columns[i].iterations);
    if (gave_up && std::isfinite(r2[i]) && r2[i] > 0)
      any = true;
    else
      rest.target_norm[i] = std::numeric_limits<double>::infinity();  // leaves this one as it is
  }
  if (!any || rest.max_iterations <= 0) return {};
  ColorVectorField p = d.make_vector();
  p.copy_from(r);
  const auto [found, form, unused] = conjugate_gradient_loop(d, mass, parity, x, r, p, tmp, r2, r2, rest, progress);
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (std::isinf(rest.target_norm[i])) continue;
    columns[i].outcome = found[i].outcome;
    columns[i].iterations += found[i].iterations;
    columns[i].residual_norm = found[i].residual_norm;
    columns[i].history.insert(columns[i].history.end(), found[i].history.begin() + 1, found[i].history.end());
  }
  return form;
}

// The factor by which the residual may fall until an update.
double largest_fall(const ReliableUpdates& updates, const StaggeredOperator& sloppy, double mass) {
  // CG gains so much an iteration where A has eigenvalues from 4 m^2 to 4 m^2 + 16, as on free fields; what it gains at
  // first, while large eigenvalues go, would promise too much.
  const double root = std::hypot(mass, 2), rate = (root - std::abs(mass)) / (root + std::abs(mass));
  const bool fp16 = sloppy.options().precision == Precision::fp16;
  const bool eight_reals = sloppy.options().reconstruct == Reconstruct::su3_8;
  const double unknowns = 1.5 * double(sloppy.lattice().global_volume());
  const double spacing = std::min(fp16 ? updates.spacing_fp16 : updates.spacing_fp32, updates.of_unknowns * unknowns);
  const double gained = std::pow(rate, spacing);
  const double least = fp16 ? updates.least_fp16 * (eight_reals ? updates.for_8_reals : 1) : updates.least_fp32;
  return std::clamp(gained, least, updates.most);
}

// The factor by which the residual falls until the next update, such that all falls that are left, by `rest` in all,
// are alike; a little more than the largest rather than one update more.
double next_fall(double largest, double rest) {
  if (rest <= 0) return largest;
  return std::pow(rest, 1 / std::max(1.0, std::ceil(std::log(rest) / std::log(largest) - 0.1)));
}

}  // namespace

CgResult reliable_conjugate_gradient(StaggeredOperator& d, StaggeredOperator& sloppy, double mass, Parity parity,
                                     ColorVectorField& x, const ColorVectorField& b, ReliableVectors& work,
                                     const CgStop& stop, const ReliableUpdates& updates,
                                     const std::function<void(const CgProgress&)>& progress) {
  const std::size_t n = stop.target_norm.size();
  auto& [r, tmp, sloppy_x, sloppy_vectors] = work;
  auto& [sloppy_r, p, sloppy_tmp, loop] = sloppy_vectors;
  std::vector<ExactSum> sums(n, ExactSum(1)), sloppy_sums = sums;
  const std::vector<double> one(n, 1);

  // r = b - A x in high precision; |r|^2
  const auto true_residual = [&] {
    r.copy_from(b);
    d.hop(tmp, x, opposite(parity));
    return d.update_residual(r, x, tmp, parity, 4 * mass * mass, one, sums);
  };

  CgResult result;
  std::vector<CgColumn>& columns = result.columns;
  columns.resize(n);
  std::vector<bool> active(n, true);
  const double largest = largest_fall(updates, sloppy, mass);
  std::vector<double> aim;  // slightly below the target: the sloppy residual is not quite the true one
  for (const double target : stop.target_norm) aim.push_back(0.95 * target);
  r.copy_from(b);
  std::vector<double> r2 = d.norm2(r, sums), p2;
  for (std::size_t i = 0; i < n; ++i) columns[i].history.push_back(r2[i]);

  bool updated = false;  // tmp is D x
  for (long iterations = 0;;) {
    CgStop inner;
    inner.until_first = true;
    inner.max_iterations = stop.max_iterations - iterations;
    inner.stagnation_window = stop.stagnation_window;
    inner.kernels = stop.kernels;
    for (std::size_t i = 0; i < n; ++i) {
      columns[i].residual_norm = std::sqrt(r2[i]);
      if (active[i] && !std::isfinite(r2[i])) {
        columns[i].outcome = CgOutcome::breakdown;
        active[i] = false;
      } else if (active[i] && columns[i].residual_norm <= stop.target_norm[i]) {
        columns[i].outcome = CgOutcome::converged;
        active[i] = false;
      }
    }
    if (std::none_of(active.begin(), active.end(), [](bool a) { return a; }) || inner.max_iterations <= 0) break;
    double rest = 1;
    for (std::size_t i = 0; i < n; ++i)
      if (active[i]) rest = std::min(rest, aim[i] / columns[i].residual_norm);
    const double fall = next_fall(largest, rest);
    for (std::size_t i = 0; i < n; ++i)
      inner.target_norm.push_back(active[i] ? std::max(fall * columns[i].residual_norm, aim[i])
                                            : std::numeric_limits<double>::infinity());

    sloppy_r.convert_from(r);
    const std::vector<double> sloppy_r2 = sloppy.norm2(sloppy_r, sloppy_sums);
    if (p2.empty()) {  // the first direction is the residual; later ones go on from where they were
      p.copy_from(sloppy_r);
      p2 = sloppy_r2;
    }
    sloppy_x.set_zero();
    const auto show = [&](const CgProgress& at) {
      double worst = 0;  // the inner ratio is relative to the inner target
      for (std::size_t i = 0; i < n; ++i)
        if (active[i]) worst = std::max(worst, inner.target_norm[i] / stop.target_norm[i]);
      progress({iterations + at.iteration, at.worst_ratio * worst});
    };
    const CgResult inner_result =
        conjugate_gradient_loop(sloppy, mass, parity, sloppy_x, sloppy_r, p, sloppy_tmp, sloppy_r2, p2, inner,
                                progress ? show : std::function<void(const CgProgress&)>(), &loop);
    result.form = inner_result.form;
    tmp.convert_from(sloppy_x);
    d.combine(1, tmp, 1, x);  // x += what the sloppy iterations found
    const std::vector<double> before = r2;
    r2 = true_residual();
    updated = true;

    long longest = 0;
    for (std::size_t i = 0; i < n; ++i) {
      p2[i] = inner_result.columns[i].direction_norm2;
      if (!active[i]) continue;
      CgColumn& column = columns[i];
      const CgColumn& found = inner_result.columns[i];
      column.iterations += found.iterations;
      longest = std::max(longest, found.iterations);
      column.history.insert(column.history.end(), found.history.begin() + 1, found.history.end());
      column.history.back() = r2[i];
      column.updates.push_back(column.iterations);
      if (found.iterations == 0 || r2[i] > least_gain * least_gain * before[i]) {
        column.outcome = found.outcome == CgOutcome::breakdown ? CgOutcome::breakdown : CgOutcome::stagnated;
        active[i] = std::sqrt(r2[i]) <= stop.target_norm[i];  // judged once more above
      }
    }
    iterations += longest;
    if (longest == 0) break;
  }
  for (std::size_t i = 0; i < n; ++i) columns[i].residual_norm = std::sqrt(r2[i]);
  result.precise_form = go_on_in_high_precision(d, mass, parity, x, r, tmp, r2, stop, columns, progress);
  if (result.precise_form || !updated) d.hop(tmp, x, opposite(parity));
  return result;
}

}  // namespace staghorn
