#include "solver/krylov/coarse/coarse_correction.hpp"

#include "halo/watch/activity.hpp"

namespace staghorn {

CoarseCorrection::CoarseCorrection(StaggeredOperator& d, StaggeredOperator* sloppy, CoarseSpace& space, int smoothing,
                                   double coarse_tolerance)
    : space_(space),
      smoothing_(smoothing),
      coarse_tolerance_(coarse_tolerance),
      s_(d.make_vector()),
      e_(d.make_vector()),
      tmp_(d.make_vector()) {
  if (smoothing > 0) smoother_.emplace(d, sloppy, smoothing, smooth_from);
}

std::int64_t CoarseCorrection::bytes() const { return 3 * s_.bytes() + (smoother_ ? smoother_->bytes() : 0); }

double CoarseCorrection::predicted_bytes(const OperatorBytes& precise, const OperatorBytes* sloppy, int smoothing) {
  return 3 * precise.vector + (smoothing > 0 ? ChebyshevPreconditioner::predicted_bytes(precise, sloppy) : 0);
}

void CoarseCorrection::apply(const ParitySystem& system, ColorVectorField& z, const ColorVectorField& r) {
  const Activity activity("coarse correction");
  const auto residual_of_z = [&] {  // s = r - A z, without sums
    s_.copy_from(r);
    system.d.hop(tmp_, z, opposite(system.parity));
    system.d.update_residual(s_, z, tmp_, system.parity, system.shift, std::vector<double>(std::size_t(r.n_rhs()), 1),
                             {});
  };
  if (smoother_)
    smoother_->apply(system, z, r);
  else
    z.copy_from(r);
  residual_of_z();
  space_.count_products(1 + (smoother_ ? 1 + 2 * smoothing_ : 0));
  space_.correct(system.d, system.shift, s_, coarse_tolerance_, e_);
  system.d.combine(1, e_, 1, z);
  if (!smoother_) return;
  residual_of_z();
  smoother_->apply(system, e_, s_);
  system.d.combine(1, e_, 1, z);
}

}  // namespace staghorn
