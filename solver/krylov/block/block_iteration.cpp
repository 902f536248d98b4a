#include "solver/krylov/block/block_iteration.hpp"

#include <utility>

#include "solver/krylov/cg_recurrences.hpp"

namespace staghorn {

namespace {

// Below this Q is made orthonormal once more (Cholesky QR twice).
constexpr double good_pivot = 1e-6;

void put(SearchNumbers& numbers, const std::string& name, const ComplexMatrix& matrix) {
  std::vector<double>& list = numbers[name] = {double(matrix.rows), double(matrix.columns)};
  for (const Complex<double>& c : matrix.elements) list.insert(list.end(), {c.re, c.im});
}

ComplexMatrix get_matrix(const SearchNumbers& numbers, const std::string& name) {
  const std::vector<double>& list = get(numbers, name);
  if (list.size() < 2) throw Error("checkpoint: " + name, "a matrix", list.size());
  const int rows = int(list[0]), columns = int(list[1]);
  ComplexMatrix matrix(rows, columns);
  get(numbers, name, 2 + 2 * matrix.elements.size());
  for (std::size_t i = 0; i < matrix.elements.size(); ++i) matrix.elements[i] = {list[2 + 2 * i], list[3 + 2 * i]};
  return matrix;
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

void BlockIteration::put_into(SearchNumbers& numbers) const {
  put(numbers, "block.w", w_);
  put(numbers, "block.s", s_);
  put(numbers, "block.p_p", p_p_);
  numbers["block.kept"].assign(kept_.begin(), kept_.end());
  numbers["block.y_scales"].assign(y_scales_.begin(), y_scales_.end());
  numbers["block.p_scales"].assign(p_scales_.begin(), p_scales_.end());
  numbers["block.tmp_scales"].assign(tmp_scales_.begin(), tmp_scales_.end());
  numbers["block.since_refresh"] = {double(since_refresh_)};
  numbers["block.kept_directions"] = {double(kept_directions_)};
}

void BlockIteration::take_from(const SearchNumbers& numbers) {
  w_ = get_matrix(numbers, "block.w");
  s_ = get_matrix(numbers, "block.s");
  p_p_ = get_matrix(numbers, "block.p_p");
  const std::vector<double>& kept = get(numbers, "block.kept");
  kept_.clear();
  for (const double is_kept : kept) kept_.push_back(is_kept != 0);
  const auto take_scales = [&](const char* name, ColumnScales& scales) {
    scales.clear();
    for (const double scale : get(numbers, name)) scales.push_back(int(scale));
  };
  take_scales("block.y_scales", y_scales_);
  take_scales("block.p_scales", p_scales_);
  take_scales("block.tmp_scales", tmp_scales_);
  since_refresh_ = long(get_number(numbers, "block.since_refresh"));
  kept_directions_ = get_number(numbers, "block.kept_directions") != 0;
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
  algebra_.combine({y_, w_}, {p_, rho_adjoint}, hop_, product(al, s_), x);
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
