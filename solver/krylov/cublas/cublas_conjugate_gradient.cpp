#include "solver/krylov/cublas_conjugate_gradient.hpp"

#include "halo/watch/activity.hpp"
#include "solver/krylov/cg_column.hpp"
#include "solver/krylov/cublas/cublas.hpp"

namespace staghorn {

// Memory moved per iteration and site of `parity`: two passes over the links and 126 reals of vectors (each hop 12; q
// -= 4m^2 p 18; p.q 12; x 18; r 18; r.r 6; p = beta p 12; p += r 18).
CgResult cublas_conjugate_gradient(const Cublas& blas, StaggeredOperator& d, double mass, Parity parity,
                                   ColorVectorField& x, const ColorVectorField& b, CublasVectors& work,
                                   const CgStop& stop, const std::function<void(const CgProgress&)>& progress) {
  const Activity activity("CG iterations by cuBLAS");
  const std::size_t n = stop.target_norm.size();
  auto& [cg, q] = work;
  ColorVectorField &r = cg.r, &p = cg.p, &tmp = cg.tmp;
  const std::vector<double> one(n, 1), minus_four_m2(n, -4 * mass * mass);
  std::vector<RunningColumn> columns(n);

  // q = -A v = D D v - 4m^2 v
  const auto apply_minus_A = [&](const ColorVectorField& v) {
    d.hop(tmp, v, opposite(parity));
    d.hop(q, tmp, parity);
    blas.axpy(minus_four_m2, v, q);
  };
  const auto dot = [&](const ColorVectorField& v, const ColorVectorField& w) {
    std::vector<double> sums = blas.dot(v, w);
    d.communicator().sum(std::span<double>(sums));
    return sums;
  };
  blas.copy(b, r);
  blas.copy(b, p);
  std::vector<double> r2 = dot(r, r);
  judge(columns, r2, stop);

  for (long iteration = 1; iteration <= stop.max_iterations && count_active(columns) > 0; ++iteration) {
    apply_minus_A(p);
    std::vector<double> p_A_p = dot(p, q);
    for (double& value : p_A_p) value = -value;
    require_positive(columns, p_A_p);
    const std::vector<double> alpha = ratio(columns, r2, p_A_p);  // alpha = (r, r) / (p, A p)
    blas.axpy(alpha, p, x);                                       // x += alpha p
    blas.axpy(alpha, q, r);                                       // r -= alpha A p
    const std::vector<double> r2_before = std::exchange(r2, dot(r, r));
    const std::vector<double> beta = ratio(columns, r2, r2_before);
    blas.scal(beta, p);
    blas.axpy(one, r, p);  // p = r + beta p
    judge(columns, r2, stop);
    if (progress) progress({iteration, worst_ratio(columns, stop)});
  }
  return {take_results(columns), LoopForm::cublas, {}};
}

}  // namespace staghorn
