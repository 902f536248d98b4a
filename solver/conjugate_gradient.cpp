#include "solver/conjugate_gradient.hpp"

#include "halo/error.hpp"
#include "halo/phase.hpp"
#include "solver/cg_column.hpp"
#include "solver/cuda_conjugate_gradient.hpp"
#include "solver/pending_solution.hpp"

namespace staghorn {

std::vector<CgColumn> conjugate_gradient(StaggeredOperator& d, double mass, Parity parity, ColorVectorField& x,
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

// Memory moved per iteration and site of `parity`: two passes over the links and 60 reals of vectors
// (hop: p, tmp; residual: tmp, p, r, r, in every second iteration x, x; direction: p, r, p).
std::vector<CgColumn> conjugate_gradient_loop(StaggeredOperator& d, double mass, Parity parity, ColorVectorField& x,
                                              ColorVectorField& r, ColorVectorField& p, ColorVectorField& tmp,
                                              std::vector<double> r2, std::vector<double> p2, const CgStop& stop,
                                              const std::function<void(const CgProgress&)>& progress,
                                              std::shared_ptr<CudaLoop>* keep) {
  if (d.host_free()) return cuda_conjugate_gradient_loop(d, mass, parity, x, r, p, tmp, r2, p2, stop, progress, keep);

  const Phase phase("CG iterations");
  const std::size_t n = stop.target_norm.size();
  const double four_m2 = 4 * mass * mass;
  const Parity other = opposite(parity);
  std::vector<ExactSum> hop_sums, residual_sums, direction_sums;  // |D p|^2 <= 64 |p|^2
  for (std::size_t i = 0; i < n; ++i) {
    hop_sums.emplace_back(p2[i] > 0 ? p2[i] : 1);
    direction_sums.emplace_back(p2[i] > 0 ? p2[i] : 1);
    residual_sums.emplace_back(r2[i] > 0 ? r2[i] : 1);
  }
  PendingSolution pending;
  pending.may_wait = d.options().precision != Precision::fp16;
  std::vector<RunningColumn> columns(n);
  judge(columns, r2, stop);
  const long active_at_start = count_active(columns);
  const auto go_on = [&] { return count_active(columns) >= (stop.until_first ? std::max(1L, active_at_start) : 1); };

  for (long iteration = 1; iteration <= stop.max_iterations && go_on(); ++iteration) {
    // tmp = D p;  alpha = (r,r) / (p, A p) = |r|^2 / (4m^2 |p|^2 + |D p|^2)
    std::vector<double> p_A_p = d.hop_and_norm2(tmp, p, other, hop_sums);
    for (std::size_t i = 0; i < n; ++i) p_A_p[i] = four_m2 * p2[i] + p_A_p[i];
    require_positive(columns, p_A_p);
    const std::vector<double> alpha = ratio(columns, r2, p_A_p);
    // x += what is pending and alpha p, in even iterations;  r -= alpha A p
    for (std::size_t i = 0; i < n; ++i) pending.before_residual(int(i), iteration, alpha[i]);
    const std::vector<double> r2_before = r2;
    r2 =
        d.update_residual(r, p, tmp, parity, four_m2, alpha, residual_sums, {&x, {pending.of_p, n}, {pending.of_r, n}});
    const std::vector<double> beta = ratio(columns, r2, r2_before);
    judge(columns, r2, stop);
    // x += alpha p, in odd iterations and where it cannot wait for the next;  p = r + beta p
    const bool last = iteration == stop.max_iterations || !go_on();
    for (std::size_t i = 0; i < n; ++i)
      pending.before_direction(int(i), iteration, alpha[i], beta[i], columns[i].active && !last);
    p2 = d.update_direction(x, p, r, {pending.at_once, n}, beta, direction_sums);
    if (progress) progress({iteration, worst_ratio(columns, stop)});
  }

  for (std::size_t i = 0; i < n; ++i) columns[i].result.direction_norm2 = p2[i];
  return take_results(columns);
}

#ifndef STAGHORN_CUDA
std::vector<CgColumn> cuda_conjugate_gradient_loop(StaggeredOperator&, double, Parity, ColorVectorField&,
                                                   ColorVectorField&, ColorVectorField&, ColorVectorField&,
                                                   const std::vector<double>&, const std::vector<double>&,
                                                   const CgStop&, const std::function<void(const CgProgress&)>&,
                                                   std::shared_ptr<CudaLoop>*) {
  throw Error("this build of Staghorn has no CUDA code");
}
#endif

}  // namespace staghorn
