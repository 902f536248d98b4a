#include "solver/krylov/coarse/coarse_deflation.hpp"

#include "halo/watch/activity.hpp"

namespace staghorn {

CoarseDeflatedCg::CoarseDeflatedCg(StaggeredOperator& d, CoarseSpace& space, double coarse_tolerance)
    : space_(space),
      r_(d.make_vector()),
      tmp_(d.make_vector()),
      search_(d, std::make_unique<CoarseCorrection>(d, nullptr, space, 0, coarse_tolerance)) {}

std::int64_t CoarseDeflatedCg::bytes() const { return r_.bytes() + tmp_.bytes() + search_.bytes(); }

CgResult CoarseDeflatedCg::solve(const ParitySystem& system, ColorVectorField& x, const ColorVectorField& b,
                                 const CgStop& stop, const ShowProgress& show) {
  const Activity activity("deflated CG iterations");
  space_.correct(system.d, system.shift, b, start_tolerance, x);
  r_.copy_from(b);
  system.d.hop(tmp_, x, opposite(system.parity));
  system.d.update_residual(r_, x, tmp_, system.parity, system.shift, std::vector<double>(std::size_t(b.n_rhs()), 1),
                           {});
  space_.count_products(1);
  tmp_.set_zero();
  CgResult result = search_.solve(system, tmp_, r_, stop, show);
  system.d.combine(1, tmp_, 1, x);
  return result;
}

}  // namespace staghorn
