#include "solver/krylov/cublas_conjugate_gradient.hpp"

#include <utility>

#include "halo/watch/activity.hpp"
#include "solver/krylov/cublas/cublas.hpp"
#include "solver/krylov/running_rhs.hpp"

namespace staghorn {

namespace {

class CublasConjugateGradient final : public KrylovSolver {
 public:
  CublasConjugateGradient(const Cublas& blas, const StaggeredOperator& d)
      : blas_(blas), r_(d.make_vector()), p_(d.make_vector()), tmp_(d.make_vector()), q_(d.make_vector()) {}
  std::int64_t bytes() const override { return cublas_vectors * r_.bytes(); }
  CgResult solve(const ParitySystem& system, ColorVectorField& x, const ColorVectorField& b, const CgStop& stop,
                 const ShowProgress& show) override;

 private:
  const Cublas& blas_;
  ColorVectorField r_, p_, tmp_, q_;
};

// Memory moved for each iteration and site of the parity: two passes over the links and 126 reals of vectors (each hop
// 12; q -= shift p 18; p.q 12; x 18; r 18; r.r 6; p = beta p 12; p += r 18).
CgResult CublasConjugateGradient::solve(const ParitySystem& system, ColorVectorField& x, const ColorVectorField& b,
                                        const CgStop& stop, const ShowProgress& show) {
  const Activity activity("CG iterations by cuBLAS");
  const auto& [d, parity, shift] = system;
  const std::size_t n = stop.target_norm.size();
  const std::vector<double> one(n, 1), minus_shift(n, -shift);

  // q = -A p = D D p - shift p
  const auto apply_minus_A = [&] {
    d.hop(tmp_, p_, opposite(parity));
    d.hop(q_, tmp_, parity);
    blas_.axpy(minus_shift, p_, q_);
  };
  const auto dot = [&](const ColorVectorField& v, const ColorVectorField& w) {
    std::vector<double> sums = blas_.dot(v, w);
    d.communicator().sum(std::span<double>(sums));
    return sums;
  };
  blas_.copy(b, r_);
  blas_.copy(b, p_);
  std::vector<double> r2 = dot(r_, r_);
  RunningRhs running(r2, stop, shift);

  for (long iteration = 1; running.go_on(iteration); ++iteration) {
    apply_minus_A();
    std::vector<double> p_A_p = dot(p_, q_);
    for (double& value : p_A_p) value = -value;
    const std::vector<double> alpha = running.alpha(r2, p_A_p);  // alpha = (r, r) / (p, A p)
    blas_.axpy(alpha, p_, x);                                    // x += alpha p
    blas_.axpy(alpha, q_, r_);                                   // r -= alpha A p
    const std::vector<double> r2_before = std::exchange(r2, dot(r_, r_));
    const std::vector<double> beta = running.ratio(r2, r2_before);
    blas_.scal(beta, p_);
    blas_.axpy(one, r_, p_);  // p = r + beta p
    running.take_residuals(r2);
    if (show) show(running.progress(iteration));
  }
  return {running.results(), LoopForm::cublas, {}, nullptr};
}

}  // namespace

std::unique_ptr<KrylovSolver> make_cublas_solver(const Cublas& blas, const StaggeredOperator& d) {
  return std::make_unique<CublasConjugateGradient>(blas, d);
}

}  // namespace staghorn
