#include "solver/eigen/chebyshev_filter.hpp"

#include <cmath>
#include <utility>
#include <vector>

#include "halo/watch/activity.hpp"

namespace staghorn {

ChebyshevFilter::ChebyshevFilter(double from, double to, int degree)
    : from_(from), to_(to), centre_((from + to) / 2), half_width_((to - from) / 2), degree_(degree) {}

double ChebyshevFilter::value(double lambda) const {
  const double x = position(lambda);
  double before = 1, now = x;
  for (int j = 1; j < degree_; ++j) before = std::exchange(now, 2 * x * now - before);
  return now;
}

double ChebyshevFilter::eigenvalue(double wanted) const {
  if (degree_ == 1) return centre_ - half_width_ * wanted;
  if (!(wanted > 1)) return from_;
  // Bisection. K has no eigenvalue below zero; rounding may leave a value a little above T(0).
  double low = -half_width_, high = from_;
  for (int step = 0; step < 200; ++step) {
    const double middle = (low + high) / 2;
    if (middle <= low || middle >= high) break;
    (value(middle) > wanted ? low : high) = middle;
  }
  return (low + high) / 2;
}

// The recurrence with t_{j+1} = t_{j-1} +- 2 x(K) t_j, which is what update_residual computes: with u_j = +-t_j and the
// signs + + - - + + - - ... both have the same numbers.
void ChebyshevFilter::apply(StaggeredOperator& d, Parity parity, const ColorVectorField& in, ColorVectorField& out,
                            Work& work) const {
  const Activity activity("Chebyshev polynomial");
  std::vector<ExactSum> hop_sums(std::size_t(in.n_rhs()), ExactSum(1));
  const Parity opposite_parity = opposite(parity);
  const double sign = degree_ % 4 < 2 ? 1 : -1;
  // r <- r + factor (centre - K) p
  const auto add_product = [&](ColorVectorField& r, const ColorVectorField& p, double factor) {
    d.hop(work.other, p, opposite_parity);
    const std::vector<double> factors(hop_sums.size(), factor);
    d.update_residual(r, p, work.other, parity, -centre_, factors, hop_sums);
    made_progress();
  };
  // u_0 = in, u_1 = x(K) in, with the sign that gives t_n = u_n
  ColorVectorField *now = &out, *before = &work.next;
  if (degree_ % 2 == 0) std::swap(now, before);
  before->set_zero();
  d.combine(sign, in, 0, *before);
  now->set_zero();
  add_product(*now, *before, 1 / half_width_);
  for (int j = 1; j < degree_; ++j) {
    add_product(*before, *now, (j % 2 == 1 ? -2 : 2) / half_width_);
    std::swap(now, before);
  }
}

}  // namespace staghorn
