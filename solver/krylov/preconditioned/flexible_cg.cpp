#include "solver/krylov/preconditioned/flexible_cg.hpp"

#include "halo/watch/activity.hpp"

namespace staghorn {

namespace {

// A = shift - D^2 on one parity, with its lines fused into hops: tmp = D p is what a product keeps.
class HopSystem final : public LinearSystem<ColorVectorField> {
 public:
  HopSystem(const ParitySystem& system, const VectorAlgebra& algebra, ColorVectorField& tmp)
      : system_(system), algebra_(algebra), tmp_(tmp) {}

  double least_eigenvalue() const override { return system_.shift; }
  std::vector<double> norm2(const ColorVectorField& v, std::span<ExactSum> sums) override {
    return system_.d.norm2(v, sums);
  }
  std::vector<double> dot(const ColorVectorField& a, const ColorVectorField& b) override {
    std::vector<double> parts;
    for (const Complex<double>& product : algebra_.dot(a, b)) parts.push_back(product.re);
    return parts;
  }
  std::vector<double> product(const ColorVectorField& p, std::span<const double> p2,
                              std::span<ExactSum> sums) override {
    std::vector<double> p_A_p = system_.d.hop_and_norm2(tmp_, p, opposite(system_.parity), sums);
    for (std::size_t i = 0; i < p_A_p.size(); ++i) p_A_p[i] = p_dot_A_p(system_.shift, p2[i], p_A_p[i]);
    return p_A_p;
  }
  std::vector<double> update_residual(ColorVectorField& r, const ColorVectorField& p, std::span<const double> alpha,
                                      std::span<ExactSum> sums) override {
    return system_.d.update_residual(r, p, tmp_, system_.parity, system_.shift, alpha, sums);
  }
  std::vector<double> update_direction(ColorVectorField& x, ColorVectorField& p, const ColorVectorField& z,
                                       std::span<const double> alpha, std::span<const double> beta,
                                       std::span<ExactSum> sums) override {
    return system_.d.update_direction(x, p, z, system_.parity, alpha, beta, sums);
  }

 private:
  const ParitySystem& system_;
  const VectorAlgebra& algebra_;
  ColorVectorField& tmp_;
};

}  // namespace

FlexibleCg::FlexibleCg(const StaggeredOperator& d, std::unique_ptr<Preconditioner> preconditioner)
    : preconditioner_(std::move(preconditioner)),
      algebra_(d.communicator(), d.layout(), d.kernels()),
      tmp_(d.make_vector()),
      work_{d.make_vector(), d.make_vector(), d.make_vector(), d.make_vector()} {}

std::int64_t FlexibleCg::bytes() const { return vectors * tmp_.bytes() + preconditioner_->bytes(); }

CgResult FlexibleCg::solve(const ParitySystem& system, ColorVectorField& x, const ColorVectorField& b,
                           const CgStop& stop, const ShowProgress& show) {
  const Activity activity("preconditioned CG iterations");
  HopSystem hops(system, algebra_, tmp_);
  return flexible_cg_loop<ColorVectorField>(
      hops, work_, [&](ColorVectorField& z, const ColorVectorField& r) { preconditioner_->apply(system, z, r); }, x, b,
      stop, show);
}

}  // namespace staghorn
