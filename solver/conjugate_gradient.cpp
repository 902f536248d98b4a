#include "solver/conjugate_gradient.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "halo/error.hpp"
#include "solver/cuda_conjugate_gradient.hpp"

namespace staghorn {

namespace {

// The bookkeeping of one right-hand side: when it is done, and why.
struct Column {
  CgColumn result;
  bool active = true;
  double smallest = std::numeric_limits<double>::infinity();  // |r|^2 so far
  long since_smallest = 0;

  void finish(CgOutcome outcome) {
    result.outcome = outcome;
    active = false;
  }

  void judge(double r2, double target, long window) {
    result.history.push_back(r2);
    result.residual_norm = std::sqrt(r2);
    if (!std::isfinite(r2)) return finish(CgOutcome::breakdown);
    if (result.residual_norm <= target) return finish(CgOutcome::converged);
    if (r2 < smallest) {
      smallest = r2;
      since_smallest = 0;
    } else if (++since_smallest >= window && window > 0) {
      finish(CgOutcome::stagnated);
    }
  }
};

}  // namespace

std::vector<CgColumn> conjugate_gradient(StaggeredOperator& d, double mass, Parity parity, ColorVectorField& x,
                                         const ColorVectorField& b, const CgStop& stop,
                                         const std::function<void(const CgProgress&)>& progress) {
  const std::size_t n = stop.target_norm.size();
  ColorVectorField r = d.make_vector(), p = d.make_vector(), tmp = d.make_vector();
  std::vector<ExactSum> sums(n, ExactSum(1));
  // r = b - A x, by the same update that CG makes: r -= 1 (4m^2 x - D D x);   p = r
  r.copy_from(b);
  d.hop(tmp, x, opposite(parity));
  const std::vector<double> one(n, 1);
  const std::vector<double> r2 = d.update_residual(r, x, tmp, parity, 4 * mass * mass, one, sums);
  p.copy_from(r);
  return conjugate_gradient_loop(d, mass, parity, x, r, p, tmp, r2, r2, stop, progress);
}

// Memory moved per iteration and site of `parity`: two passes over the links and 66 reals of vectors
// (hop: p, tmp; residual: tmp, p, r, r; direction: x, p, r, x, p).
std::vector<CgColumn> conjugate_gradient_loop(StaggeredOperator& d, double mass, Parity parity, ColorVectorField& x,
                                              ColorVectorField& r, ColorVectorField& p, ColorVectorField& tmp,
                                              std::vector<double> r2, std::vector<double> p2, const CgStop& stop,
                                              const std::function<void(const CgProgress&)>& progress) {
  if (d.host_free()) return cuda_conjugate_gradient_loop(d, mass, parity, x, r, p, tmp, r2, p2, stop, progress);

  const std::size_t n = stop.target_norm.size();
  const double four_m2 = 4 * mass * mass;
  const Parity other = opposite(parity);
  std::vector<double> alpha(n, 0), beta(n, 0);
  std::vector<ExactSum> hop_sums, residual_sums, direction_sums;  // |D p|^2 <= 64 |p|^2
  for (std::size_t i = 0; i < n; ++i) {
    hop_sums.emplace_back(p2[i] > 0 ? p2[i] : 1);
    direction_sums.emplace_back(p2[i] > 0 ? p2[i] : 1);
    residual_sums.emplace_back(r2[i] > 0 ? r2[i] : 1);
  }
  std::vector<Column> columns(n);
  const auto judge = [&] {
    for (std::size_t i = 0; i < n; ++i)
      if (columns[i].active) columns[i].judge(r2[i], stop.target_norm[i], stop.stagnation_window);
  };
  const auto count_active = [&] {
    return std::count_if(columns.begin(), columns.end(), [](const Column& c) { return c.active; });
  };
  judge();
  const auto active_at_start = count_active();
  const auto go_on = [&] { return stop.until_first ? count_active() == active_at_start : count_active() > 0; };

  for (long iteration = 1; iteration <= stop.max_iterations && count_active() > 0 && go_on(); ++iteration) {
    // tmp = D p;  alpha = (r,r) / (p, A p) = |r|^2 / (4m^2 |p|^2 + |D p|^2)
    const std::vector<double> tmp2 = d.hop_and_norm2(tmp, p, other, hop_sums);
    for (std::size_t i = 0; i < n; ++i) {
      const double p_A_p = four_m2 * p2[i] + tmp2[i];
      if (columns[i].active && !(p_A_p > 0)) columns[i].finish(CgOutcome::breakdown);
      alpha[i] = columns[i].active ? r2[i] / p_A_p : 0;
    }
    // r -= alpha A p
    const std::vector<double> r2_before = r2;
    r2 = d.update_residual(r, p, tmp, parity, four_m2, alpha, residual_sums);
    for (std::size_t i = 0; i < n; ++i) {
      beta[i] = columns[i].active ? r2[i] / r2_before[i] : 0;
      if (columns[i].active) ++columns[i].result.iterations;
    }
    // x += alpha p;  p = r + beta p
    p2 = d.update_direction(x, p, r, alpha, beta, direction_sums);
    judge();
    if (progress) {
      double worst = 0;
      for (std::size_t i = 0; i < n; ++i)
        worst = std::max(worst, columns[i].result.residual_norm / stop.target_norm[i]);
      progress({iteration, worst});
    }
  }

  std::vector<CgColumn> results;
  for (std::size_t i = 0; i < n; ++i) {
    columns[i].result.direction_norm2 = p2[i];
    results.push_back(std::move(columns[i].result));
  }
  return results;
}

#ifndef STAGHORN_CUDA
std::vector<CgColumn> cuda_conjugate_gradient_loop(StaggeredOperator&, double, Parity, ColorVectorField&,
                                                   ColorVectorField&, ColorVectorField&, ColorVectorField&,
                                                   const std::vector<double>&, const std::vector<double>&,
                                                   const CgStop&, const std::function<void(const CgProgress&)>&) {
  throw Error("this build of Staghorn has no CUDA code");
}
#endif

}  // namespace staghorn
