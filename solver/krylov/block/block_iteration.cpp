#include "solver/krylov/block/block_iteration.hpp"

#include <algorithm>
#include <utility>

#include "solver/krylov/cg_recurrences.hpp"

namespace staghorn {

namespace {

// Below this Q is made orthonormal once more (Cholesky QR twice).
constexpr double good_pivot = 1e-6;

// Q is foreseen only where it deviates from orthonormal by less than this; each time rounding adds `of_rounding`.
constexpr double most_drift = 1e-12, of_rounding = 1e-15;
constexpr double least_foreseen_pivot = 1e-3;

void archive_matrix(const Archive& archive, const char* name, ComplexMatrix& matrix) {
  std::vector<double> reals;
  for (const Complex<double>& c : matrix.elements) reals.insert(reals.end(), {c.re, c.im});
  archive(name, [&](const Archive& here) {
    here("rows", matrix.rows);
    here("columns", matrix.columns);
    here("elements", reals, 2 * std::size_t(matrix.rows) * std::size_t(matrix.columns));
  });
  matrix.elements.resize(reals.size() / 2);
  for (std::size_t i = 0; i < matrix.elements.size(); ++i) matrix.elements[i] = {reals[2 * i], reals[2 * i + 1]};
}

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
  drift_ = of_rounding / factor.smallest_pivot;
  return factor.rho;
}

void BlockIteration::begin(const ComplexMatrix& s) {
  y_scales_ = p_scales_ = tmp_scales_ = hop_scales_ = {};  // last bits depend on them, and not on earlier solves
  s_ = product(orthonormalize(), s);
  algebra_.combine({{y_, w_}}, p_);
  take_directions(false);
}

ComplexMatrix BlockIteration::replace(const ComplexMatrix& s) {
  const ComplexMatrix of_t = product(s, triangular_inverse(s_)), one = identity(s.rows);
  // E = T of_t - Q
  const ComplexMatrix mixed = product(adjoint(of_t), product(algebra_.gram(tmp_, y_), w_));
  ComplexMatrix minus_w(w_.rows, w_.columns);
  add(-1, w_, minus_w);
  algebra_.combine({{p_, one}, {y_, minus_w}}, hop_);  // P - Q
  std::swap(y_, tmp_);
  const ComplexMatrix rho = orthonormalize();  // T = Q' rho
  s_ = product(rho, s);
  const ComplexMatrix k = product(rho, of_t), kept = adjoint(k);
  ComplexMatrix E_E = product(kept, k);
  add(-1, mixed, E_E);
  add(-1, adjoint(mixed), E_E);
  add(1, one, E_E);

  // P <- Q' + V - Q' Q'^+ V with V = (P - Q) k^+
  ComplexMatrix of_q = one;
  add(-1, product(product(adjoint(w_), algebra_.gram(y_, hop_)), kept), of_q);
  algebra_.combine({{y_, product(w_, of_q)}, {hop_, kept}}, p_);
  take_directions(true);
  return E_E;
}

void BlockIteration::take_directions(bool kept) {
  p_p_ = algebra_.gram(p_, &p_scales_);
  since_refresh_ = 0;
  was_foreseen_ = false;
  kept_directions_ = kept;
}

void BlockIteration::visit(const Archive& archive) {
  archive_matrix(archive, "w", w_);
  archive_matrix(archive, "s", s_);
  archive_matrix(archive, "p_p", p_p_);
  archive("kept", kept_);
  archive("y_scales", y_scales_);
  archive("p_scales", p_scales_);
  archive("tmp_scales", tmp_scales_);
  archive("hop_scales", hop_scales_);
  archive("drift", drift_);
  archive("was_foreseen", was_foreseen_);
  archive("since_refresh", since_refresh_);
  archive("kept_directions", kept_directions_);
}

std::optional<BlockFactor> BlockIteration::foresee(const ComplexMatrix& al, const ComplexMatrix& A_p_A_p) {
  // Y^+ Y = al (A P)^+ A P al - 1, as 1 = Q^+ Q = P^+ A P al = Q^+ A P al
  ComplexMatrix y_y = product(product(adjoint(al), A_p_A_p), al);
  add(-1, identity(al.rows), y_y);
  const BlockFactor factor = block_cholesky(y_y, least_pivot);
  if (factor.rank < al.rows || factor.smallest_pivot < least_foreseen_pivot) return std::nullopt;
  // What is wrong with Q^+ Q grows as Y is smaller than Q.
  const double drift = (drift_ + of_rounding) * largest_row_sum(product_adjoint(factor.inverse, factor.inverse));
  if (!(drift < most_drift)) return std::nullopt;
  drift_ = drift;
  return factor;
}

// Y <- Q - A P al = Y W - shift P al + (D D P) al;  P <- Q' + P beta with Q' = Y W' and beta = rho^+;  X += P al S
void BlockIteration::move_at_once(const BlockFactor& next, const ComplexMatrix& al, double shift, ColorVectorField& x) {
  ComplexMatrix y_from_p(al.rows, al.columns), p_from_p = adjoint(next.rho);
  add(-shift, al, y_from_p);
  const ComplexMatrix p_from_y = product(w_, next.inverse), p_from_hop = product(al, next.inverse);
  add(-shift, p_from_hop, p_from_p);
  const ColorVectorField* const vectors[] = {&y_, &hop_, &p_};
  algebra_.combine(vectors, {{{&w_, &al, &y_from_p}, tmp_}, {{&p_from_y, &p_from_hop, &p_from_p}, hop_}},
                   product(al, s_), x);
  std::swap(y_, tmp_);
  std::swap(p_, hop_);
  w_ = next.inverse;
}

// The same with Q' from Y itself. `inverse`: if given, that of P^+ A P, and beta is computed with it.
ComplexMatrix BlockIteration::move_in_steps(const ComplexMatrix& al, double shift, const ComplexMatrix* inverse,
                                            ColorVectorField& x) {
  ComplexMatrix y_from_p(al.rows, al.columns);
  add(-shift, al, y_from_p);
  algebra_.combine({{y_, w_}, {p_, y_from_p}, {hop_, al}}, tmp_);
  std::swap(y_, tmp_);
  const ComplexMatrix rho = orthonormalize();
  // beta = -(P^+ A P)^-1 (A P)^+ Q', which is rho^+ where all is orthogonal
  const ComplexMatrix beta = inverse ? product(*inverse, product(algebra_.gram(hop_, y_), w_)) : adjoint(rho);
  const ColorVectorField* const vectors[] = {&y_, &p_};
  algebra_.combine(vectors, {{{&w_, &beta}, hop_}}, product(al, s_), x);
  std::swap(p_, hop_);
  return rho;
}

bool BlockIteration::advance(const ParitySystem& system, ColorVectorField& x) {
  const auto& [d, parity, shift] = system;
  d.hop(tmp_, p_, opposite(parity));
  // The second hop need not wait for the host.
  const ComplexMatrix D_p_D_p =
      algebra_.gram(tmp_, &tmp_scales_, [&, &d = d, parity = parity] { d.hop(hop_, tmp_, parity); });
  // P^+ A P = shift P^+ P + (D P)^+ D P, since D is anti-Hermitian
  ComplexMatrix p_A_p = D_p_D_p;
  add(shift, p_p_, p_A_p);
  const BlockFactor positive = block_cholesky(p_A_p, least_pivot);
  const ComplexMatrix inverse = positive_inverse(positive);

  std::optional<BlockFactor> next;
  const bool all_kept = positive.rank == inverse.rows && std::find(kept_.begin(), kept_.end(), false) == kept_.end();
  if (y_.precision() == Precision::fp64 && all_kept && !kept_directions_) {
    // (A P)^+ A P = shift^2 P^+ P + 2 shift (D P)^+ D P + (D D P)^+ D D P
    ComplexMatrix A_p_A_p = algebra_.gram(hop_, &hop_scales_);
    add(2 * shift, D_p_D_p, A_p_A_p);
    add(shift * shift, p_p_, A_p_A_p);
    next = foresee(inverse, A_p_A_p);
  }
  const bool anew = was_foreseen_ && !next;  // nothing is taken for granted
  // al = (P^+ A P)^-1 P^+ Q, where P^+ Q = 1 unless Q has been made anew
  const ComplexMatrix al = kept_directions_ || anew ? product(inverse, product(algebra_.gram(p_, y_), w_)) : inverse;
  if (next) move_at_once(*next, al, shift, x);
  const ComplexMatrix rho = next ? next->rho : move_in_steps(al, shift, anew ? &inverse : nullptr, x);
  s_ = product(rho, s_);

  // P^+ P = 1 + rho P^+ P rho^+, since Q' is orthogonal to the P of before; now and then from P itself
  if (++since_refresh_ == cg_refresh_interval || anew) {
    p_p_ = algebra_.gram(p_, &p_scales_);
    since_refresh_ = 0;
  } else {
    p_p_ = product_adjoint(product(rho, p_p_), rho);
    for (int i = 0; i < rho.rows; ++i)
      if (kept_[std::size_t(i)]) p_p_(i, i).re += 1;
  }
  was_foreseen_ = next.has_value();
  foreseen_ += was_foreseen_;
  kept_directions_ = false;
  return positive.rank > 0;
}

}  // namespace staghorn
