#include "solver/krylov/conjugate_gradient.hpp"

#include "halo/watch/activity.hpp"
#include "halo/watch/error.hpp"
#include "solver/krylov/cg_column.hpp"
#include "solver/krylov/cg_recurrences.hpp"
#include "solver/krylov/cuda_conjugate_gradient.hpp"

namespace staghorn {

CgResult conjugate_gradient(StaggeredOperator& d, double mass, Parity parity, ColorVectorField& x,
                            const ColorVectorField& b, CgVectors& work, const CgStop& stop,
                            const std::function<void(const CgProgress&)>& progress) {
  const std::size_t n = stop.target_norm.size();
  auto& [r, p, tmp, loop] = work;
  std::vector<ExactSum> sums(n, ExactSum(1));
  r.copy_from(b);
  p.copy_from(b);
  const std::vector<double> r2 = d.norm2(r, sums);
  return conjugate_gradient_loop(d, mass, parity, x, r, p, tmp, r2, r2, stop, progress, &loop);
}

// Memory moved per iteration and site of `parity`: two passes over the links and 54 reals of vectors (hop: r, tmp, tmp;
// residual: tmp, p, p, r, r, in every second iteration x, x), and in one iteration of cg_refresh_interval 18 more.
CgResult conjugate_gradient_loop(StaggeredOperator& d, double mass, Parity parity, ColorVectorField& x,
                                 ColorVectorField& r, ColorVectorField& p, ColorVectorField& tmp,
                                 std::vector<double> r2, std::vector<double> p2, const CgStop& stop,
                                 const std::function<void(const CgProgress&)>& progress,
                                 std::shared_ptr<CudaLoop>* keep) {
  if (d.host_free()) return cuda_conjugate_gradient_loop(d, mass, parity, x, r, p, tmp, r2, p2, stop, progress, keep);

  const Activity activity("CG iterations");
  const std::size_t n = stop.target_norm.size();
  const double four_m2 = 4 * mass * mass;
  const Parity other = opposite(parity);
  std::vector<ExactSum> hop_sums, residual_sums;  // |D p|^2 <= 64 |p|^2
  for (std::size_t i = 0; i < n; ++i) {
    hop_sums.push_back(sum_near(p2[i]));
    residual_sums.push_back(sum_near(r2[i]));
  }
  PendingSolution pending;
  std::vector<double> beta;
  std::vector<RunningColumn> columns(n);
  judge(columns, r2, stop);
  const long active_at_start = count_active(columns);
  const auto go_on = [&] { return count_active(columns) >= (stop.until_first ? std::max(1L, active_at_start) : 1); };
  // x += what of it still waits;  p = r + beta p
  const auto update_direction = [&] {
    std::vector<ExactSum> sums;
    for (const double near : p2) sums.push_back(sum_near(near));
    p2 = d.update_direction(x, p, r, parity, {pending.waiting, n}, beta, sums);
  };

  for (long iteration = 1; iteration <= stop.max_iterations && go_on(); ++iteration) {
    const bool given = cg_direction_is_given(iteration);
    if (given && iteration > 1) update_direction();
    // tmp = D p, or D r + beta tmp;  alpha = (r,r) / (p, A p) = |r|^2 / (4m^2 |p|^2 + |D p|^2)
    std::vector<double> p_A_p =
        given ? d.hop_and_norm2(tmp, p, other, hop_sums) : d.hop_and_norm2(tmp, r, other, hop_sums, beta);
    for (std::size_t i = 0; i < n; ++i) p_A_p[i] = four_m2 * p2[i] + p_A_p[i];
    require_positive(columns, p_A_p);
    const std::vector<double> alpha = ratio(columns, r2, p_A_p);
    // p = r + beta p, unless it is there;  r -= alpha A p;  x += what waits and alpha p, in even iterations
    for (std::size_t i = 0; i < n; ++i) pending.before_residual(int(i), iteration, alpha[i]);
    const std::vector<double> r2_before = r2;
    r2 = d.update_residual(r, p, x, tmp, parity, four_m2,
                           {alpha, given ? std::span<const double>() : beta, {pending.of_new, n}, {pending.of_old, n}},
                           residual_sums);
    beta = ratio(columns, r2, r2_before);
    for (std::size_t i = 0; i < n; ++i) p2[i] = next_direction_norm2(r2[i], beta[i], p2[i]);
    judge(columns, r2, stop);
    if (progress) progress({iteration, worst_ratio(columns, stop)});
  }
  if (!beta.empty()) update_direction();

  for (std::size_t i = 0; i < n; ++i) columns[i].result.direction_norm2 = p2[i];
  return {take_results(columns), LoopForm::host, {}};
}

#ifndef STAGHORN_CUDA
CgResult cuda_conjugate_gradient_loop(StaggeredOperator&, double, Parity, ColorVectorField&, ColorVectorField&,
                                      ColorVectorField&, ColorVectorField&, const std::vector<double>&,
                                      const std::vector<double>&, const CgStop&,
                                      const std::function<void(const CgProgress&)>&, std::shared_ptr<CudaLoop>*) {
  throw Error("this build of Staghorn has no CUDA code");
}
#endif

}  // namespace staghorn
