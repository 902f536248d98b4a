#include "solver/krylov/preconditioned/chebyshev_preconditioner.hpp"

#include <vector>

#include "dirac/operators/hop_data.hpp"
#include "halo/watch/activity.hpp"
#include "solver/eigen/spectral_range.hpp"
#include "solver/krylov/cg_recurrences.hpp"

namespace staghorn {

namespace {

constexpr int products_for_range = 24;

}  // namespace

ChebyshevPreconditioner::ChebyshevPreconditioner(StaggeredOperator& d, StaggeredOperator* sloppy, int products,
                                                 double from)
    : precise_(d),
      d_(sloppy ? *sloppy : d),
      products_(products),
      from_(from),
      r_(d_.make_vector()),
      p_(d_.make_vector()),
      tmp_(d_.make_vector()) {
  if (sloppy) z_.emplace(sloppy->make_solution());
}

std::int64_t ChebyshevPreconditioner::bytes() const {
  return r_.bytes() + p_.bytes() + tmp_.bytes() + (z_ ? z_->bytes() : 0);
}

double ChebyshevPreconditioner::predicted_bytes(const OperatorBytes& precise, const OperatorBytes* sloppy) {
  return sloppy ? 3 * sloppy->vector + sloppy->solution : 3 * precise.vector;
}

// A few steps of Lanczos, and their residual on top, are above the largest eigenvalue [Zhou & Li, Linear Algebra Appl.
// 435 (2011) 480]. Both parities have the same eigenvalues.
double ChebyshevPreconditioner::largest_eigenvalue(Parity parity) {
  if (links_ != precise_.hop_data() || filling_ != links_->filling) {
    largest_ = find_spectral_range(precise_, parity, 0, products_for_range).upper_end();
    links_ = precise_.hop_data();
    filling_ = links_->filling;
  }
  return largest_;
}

// Chebyshev's iteration in the form of CG, whose lines the operator has: r -= alpha A p, p = r + beta p, z += alpha p,
// with tmp = D p by its recurrence, and with alpha and beta from the interval in place of dot products.
void ChebyshevPreconditioner::apply(const ParitySystem& system, ColorVectorField& z, const ColorVectorField& r) {
  const double largest = largest_eigenvalue(system.parity), half_width = (1 - from_) * largest / 2,
               middle = system.shift + (1 + from_) * largest / 2;
  const Activity activity("Chebyshev preconditioner");
  const Parity other = opposite(system.parity);
  const std::size_t n_rhs = std::size_t(r.n_rhs());
  const auto each = [&](double coefficient) { return std::vector<double>(n_rhs, coefficient); };
  ColorVectorField& sum = z_ ? *z_ : z;
  sum.set_zero();
  r_.convert_from(r);
  p_.copy_from(r_);
  double rho = half_width / middle, alpha = 1 / middle, beta = 0;
  PendingSolution pending;
  for (int step = 1; step <= products_; ++step) {
    if (step == 1)
      d_.hop(tmp_, p_, other);
    else
      d_.hop_and_norm2(tmp_, r_, other, {}, each(beta));
    pending.before_residual(0, step, alpha);
    d_.update_residual(r_, p_, sum, tmp_, system.parity, system.shift,
                       {each(alpha), step == 1 ? std::vector<double>() : each(beta), each(pending.new_weight[0]),
                        each(pending.old_weight[0])},
                       {});
    const double next_rho = 1 / (2 * middle / half_width - rho), next_alpha = 2 * next_rho / half_width;
    beta = next_rho * rho * alpha / next_alpha;
    rho = next_rho;
    alpha = next_alpha;
    made_progress();
  }
  // What z lacks, and the last direction, which is multiplied by no A: fp16 has no other way to add.
  d_.update_direction(sum, p_, r_, system.parity, each(pending.waiting[0]), each(beta), {});
  d_.update_direction(sum, p_, r_, system.parity, each(alpha), each(0), {});
  if (z_) z.convert_from(*z_);
}

}  // namespace staghorn
