#include "solver/krylov/preconditioned/flexible_cg.hpp"

#include <utility>

#include "halo/watch/activity.hpp"
#include "solver/krylov/running_rhs.hpp"

namespace staghorn {

FlexibleCg::FlexibleCg(const StaggeredOperator& d, std::unique_ptr<Preconditioner> preconditioner)
    : preconditioner_(std::move(preconditioner)),
      algebra_(d.communicator(), d.layout(), d.kernels()),
      r_(d.make_vector()),
      r_before_(d.make_vector()),
      z_(d.make_vector()),
      p_(d.make_vector()),
      tmp_(d.make_vector()) {}

std::int64_t FlexibleCg::bytes() const { return vectors * r_.bytes() + preconditioner_->bytes(); }

std::vector<double> FlexibleCg::dot(const ColorVectorField& a, const ColorVectorField& b) const {
  std::vector<double> parts;
  for (const Complex<double>& product : algebra_.dot(a, b)) parts.push_back(product.re);
  return parts;
}

CgResult FlexibleCg::solve(const ParitySystem& system, ColorVectorField& x, const ColorVectorField& b,
                           const CgStop& asked, const ShowProgress& show) {
  const Activity activity("preconditioned CG iterations");
  const auto& [d, parity, shift] = system;
  CgStop stop = asked;
  stop.restarted = true;  // the coefficients are those of P A
  std::vector<ExactSum> sums = sums_of_sources(stop), hop_sums = sums;
  std::vector<double> r_z, p2;
  long iteration = 0;
  const auto search = [&](const Archive& archive) {
    archive("p2", p2, stop.target_norm.size());
    archive("r_z", r_z, stop.target_norm.size());
    archive.count("iterations", iteration);
    archive_sums(archive, "bounds", sums);
    archive_sums(archive, "hop_bounds", hop_sums);
  };
  r_.copy_from(b);
  RunningRhs running(d.norm2(r_, sums), stop, shift);
  const auto visit = [&](const Archive& archive) {
    archive("search", search);
    archive("right_hand_sides", running);
  };
  if (const Archive* const kept = stop.keeper ? stop.keeper->kept() : nullptr) {
    visit(*kept);
    stop.keeper->restore({&x, &r_, &p_});
  } else {
    preconditioner_->apply(system, z_, r_);
    r_z = dot(z_, r_);
    p_.copy_from(z_);
    std::vector<ExactSum> once = sums_near(r_z);
    p2 = d.norm2(p_, once);
    hop_sums = sums_near(p2);
  }
  while (running.go_on(iteration + 1)) {
    ++iteration;
    // alpha = (r, z) / (p, A p);  r -= alpha A p
    std::vector<double> p_A_p = d.hop_and_norm2(tmp_, p_, opposite(parity), hop_sums);
    for (std::size_t i = 0; i < p2.size(); ++i) p_A_p[i] = p_dot_A_p(shift, p2[i], p_A_p[i]);
    const std::vector<double> alpha = running.alpha(r_z, p_A_p);
    r_before_.copy_from(r_);
    running.take_residuals(d.update_residual(r_, p_, tmp_, parity, shift, alpha, sums));
    std::vector<double> beta(alpha.size(), 0);
    if (running.count_active() > 0) {
      preconditioner_->apply(system, z_, r_);
      const std::vector<double> before = std::exchange(r_z, dot(z_, r_)), z_r_before = dot(z_, r_before_);
      std::vector<double> change(beta.size());
      for (std::size_t i = 0; i < beta.size(); ++i) change[i] = r_z[i] - z_r_before[i];
      beta = running.ratio(change, before);
    }
    // x += alpha p;  p = z + beta p
    std::vector<ExactSum> direction_sums = sums_near(p2);
    p2 = d.update_direction(x, p_, z_, parity, alpha, beta, direction_sums);
    if (show) show(running.progress(iteration));
    if (stop.keeper && running.go_on(iteration + 1) && stop.keeper->is_due())
      stop.keeper->keep({{&x, &r_, &p_}, visit});
  }
  std::vector<SolvedRhs> results = running.results();
  for (SolvedRhs& rhs : results) rhs.steps.clear();  // they say nothing of A
  return {std::move(results), LoopForm::host, {}, nullptr};
}

}  // namespace staghorn
