#include "solver/krylov/block/block_iteration.hpp"

#include <utility>

#include "solver/krylov/cg_recurrences.hpp"

namespace staghorn {

namespace {

// Below this Q is made orthonormal once more (Cholesky QR twice).
constexpr double good_pivot = 1e-6;

}  // namespace

BlockIteration::BlockIteration(StaggeredOperator& d)
    : y_(d.make_vector()),
      p_(d.make_vector()),
      tmp_(d.make_vector()),
      hop_(d.make_vector()),
      algebra_(d),
      w_(0, 0),
      s_(0, 0),
      p_p_(0, 0) {}

ComplexMatrix BlockIteration::orthonormalize() {
  BlockFactor factor = block_cholesky(algebra_.gram(y_, &y_scales_), least_pivot);
  if (factor.smallest_pivot < good_pivot) {
    algebra_.combine({{y_, factor.inverse}}, tmp_);
    std::swap(y_, tmp_);
    const ComplexMatrix rho = factor.rho;
    factor = block_cholesky(algebra_.gram(y_, &y_scales_), least_pivot);
    factor.rho = product(factor.rho, rho);
  }
  w_ = factor.inverse;
  kept_ = factor.kept;
  return factor.rho;
}

void BlockIteration::begin(const ComplexMatrix& s, bool keep_directions) {
  if (!keep_directions)
    y_scales_ = p_scales_ = tmp_scales_ = {};  // last bits depend on them, and not on earlier solves
  s_ = product(orthonormalize(), s);
  if (!keep_directions) algebra_.combine({{y_, w_}}, p_);
  p_p_ = algebra_.gram(p_, &p_scales_);
  since_refresh_ = 0;
  kept_directions_ = keep_directions;
}

bool BlockIteration::advance(const ParitySystem& system, ColorVectorField& x) {
  const auto& [d, parity, shift] = system;
  // P^+ A P = shift P^+ P + (D P)^+ D P, since D is anti-Hermitian;  al = (P^+ A P)^-1
  d.hop(tmp_, p_, opposite(parity));
  ComplexMatrix p_A_p = algebra_.gram(tmp_, &tmp_scales_);
  add(shift, p_p_, p_A_p);
  const BlockFactor positive = block_cholesky(p_A_p, least_pivot);
  ComplexMatrix al = positive_inverse(positive);
  // P^+ Q = 1, unless Q has been made anew: al = (P^+ A P)^-1 P^+ Q
  if (kept_directions_) al = product(al, product(algebra_.gram(p_, y_), w_));
  kept_directions_ = false;

  // Y <- Q - A P al = Y W - shift P al + (D D P) al
  d.hop(hop_, tmp_, parity);
  ComplexMatrix minus_shift_al(al.rows, al.columns);
  add(-shift, al, minus_shift_al);
  algebra_.combine({{y_, w_}, {p_, minus_shift_al}, {hop_, al}}, tmp_);
  std::swap(y_, tmp_);
  // Q' rho = Y
  const ComplexMatrix rho = orthonormalize(), rho_adjoint = product_adjoint(identity(rho.columns), rho);

  // X += P al S;  P <- Q' + P rho^+;  S <- rho S
  algebra_.combine({{p_, product(al, s_)}}, x, true);
  algebra_.combine({{y_, w_}, {p_, rho_adjoint}}, hop_);
  std::swap(p_, hop_);
  s_ = product(rho, s_);
  // P^+ P = 1 + rho P^+ P rho^+, since Q' is orthogonal to the P of before; now and then from P itself
  if (++since_refresh_ == cg_refresh_interval) {
    p_p_ = algebra_.gram(p_, &p_scales_);
    since_refresh_ = 0;
  } else {
    p_p_ = product(product(rho, p_p_), rho_adjoint);
    for (int i = 0; i < rho.rows; ++i)
      if (kept_[std::size_t(i)]) p_p_(i, i).re += 1;
  }
  return positive.rank > 0;
}

}  // namespace staghorn
