#include "solver/eigen/lanczos_search.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "dirac/algebra/hermitian_eigen.hpp"
#include "dirac/operators/vector_algebra.hpp"
#include "halo/watch/activity.hpp"

namespace staghorn {

namespace {

constexpr int largest_basis = 1500;  // the dense eigenproblem of every restart takes 9 n^3 flops on one core
constexpr int probe_steps = 12;
constexpr int largest_block = 8;  // more share links no better
// Of a block, in spaces of less than this dimension, and of more.
constexpr int pairs_per_column_small = 64, pairs_per_column = 16;
constexpr std::int64_t small_dimension = 500000;

// From so many eigenvalues below the interval the `pairs` lowest are well separated from it, and the estimate may err
// by three standard deviations.
double wanted_below(int pairs) { return pairs + 4 * std::sqrt(double(pairs)) + 8; }

ChebyshevFilter choose_filter(const SpectralRange& range, double below, std::optional<double> from,
                              std::optional<int> degree) {
  const double to = range.upper_end();
  // Where a good part of the spectrum is wanted a polynomial separates nothing.
  if (!from && below > double(range.dimension) / 3) return ChebyshevFilter(0, to, 1);
  const double begin = from ? *from : range.bound_of(below);
  // T_n grows below the interval as cosh(2 n sqrt((from - lambda) / to)).
  const int chosen = 4 * int(std::clamp(0.35 * std::sqrt(to / begin), 2.0, 100.0));
  return ChebyshevFilter(begin, to, degree.value_or(chosen));
}

}  // namespace

int LanczosSearch::basis_size(int pairs, std::int64_t dimension) {
  return int(std::min<std::int64_t>({std::max(pairs + 32, pairs + pairs / 2), largest_basis, dimension}));
}

int LanczosSearch::block_size(int pairs, std::int64_t dimension) {
  const int least = dimension < small_dimension ? pairs_per_column_small : pairs_per_column;
  int size = largest_block;
  while (size > 1 && size * least > pairs) size /= 2;
  return size;
}

LanczosSearch::LanczosSearch(StaggeredOperator& d, StaggeredOperator& d_of_block, Parity parity,
                             const SpectralRange& range, const LanczosAim& aim)
    : d_(d),
      d_of_block_(d_of_block),
      parity_(parity),
      range_(range),
      aim_(aim),
      expected_(wanted_below(aim.pairs)),
      filter_(choose_filter(range, expected_, aim.from, aim.degree)),
      work_(d_of_block),
      block_(d_of_block.make_vector()),
      filtered_(d_of_block.make_vector()),
      basis_(d, parity, basis_size(aim.pairs, range.dimension) + block_.n_rhs(), aim.seed),
      h_(basis_.size(), basis_.size()) {
  counts_.calls = range.calls;
  if (const Archive* const kept = aim.keeper ? aim.keeper->kept() : nullptr)
    take_state(*kept);
  else
    begin_anew();
}

LanczosSearch::Ritz LanczosSearch::ritz(int first) const {
  const int n = filled_ - first;
  ComplexMatrix h(n, n);
  for (int i = 0; i < n; ++i)
    for (int j = 0; j <= i; ++j) h(i, j) = h_(first + i, first + j);
  HermitianEigen ascending = hermitian_eigen(h);
  Ritz found{ComplexMatrix(n, n), std::vector<double>(ascending.values.rbegin(), ascending.values.rend()), 0, {}, {}};
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) found.vectors(i, j) = ascending.vectors(n - 1 - i, j);
  while (found.ordered < n && filter_.is_ordered(found.theta[std::size_t(found.ordered)])) {
    const int i = found.ordered++;
    const double theta = found.theta[std::size_t(i)], lambda = filter_.eigenvalue(theta);
    double coupled2 = 0;
    for (int a = 0; a < next_; ++a) {
      const Complex<double> c = coupling(filled_ + a, first, found.vectors, i);
      coupled2 += c.re * c.re + c.im * c.im;
    }
    found.lambda.push_back(lambda);
    found.residual.push_back(std::sqrt(coupled2) * filter_.residual_factor(theta, lambda));
  }
  return found;
}

// Row `row` of H, from column `first` on, times the vector in row i of `vectors`.
Complex<double> LanczosSearch::coupling(int row, int first, const ComplexMatrix& vectors, int i) const {
  Complex<double> sum{};
  for (int j = 0; j < vectors.columns; ++j) {
    const Complex<double>&h = h_(row, first + j), &x = vectors(i, j);
    sum.re += h.re * x.re - h.im * x.im;
    sum.im += h.re * x.im + h.im * x.re;
  }
  return sum;
}

int LanczosSearch::count_converged(const Ritz& ritz) const {
  const auto begin = ritz.residual.begin();
  return int(std::count_if(begin, begin + std::min(aim_.pairs, ritz.ordered),
                           [&](double residual) { return residual <= aim_.residual; }));
}

bool LanczosSearch::extend(int size) {
  while (next_ > 0 && filled_ + next_ <= size) {
    if (aim_.keeper && aim_.keeper->is_due()) keep_state();
    if (counts_.calls + long{filter_.degree()} * next_ + (aim_.pairs + 1) / 2 > aim_.max_calls) return false;
    if (aim_.interrupted && *aim_.interrupted) return false;
    const int first = filled_, after = filled_ + next_;
    basis_.gather(first, next_, block_);
    filter_.apply(d_of_block_, parity_, block_, filtered_, work_);
    basis_.scatter(filtered_, after, next_);
    counts_.calls += long{filter_.degree()} * next_;
    counts_.filtered += next_;
    if (show_) show_(counts_);
    const LanczosBasis::Block left = basis_.orthonormalize(after, next_);
    counts_.random_vectors += left.drawn;
    for (int i = 0; i < next_; ++i) {
      for (int j = 0; j < i; ++j) h_(first + i, first + j) = left.along(i, j);
      h_(first + i, first + i) = {left.along(i, i).re, 0};
    }
    filled_ = after;
    forget_coupling();
    for (int i = 0; i < left.count; ++i)
      for (int j = i; j < next_; ++j) h_(after + i, first + j) = left.triangle(i, j);
    next_ = left.count;
  }
  return true;
}

void LanczosSearch::keep(const Ritz& ritz, const std::vector<int>& kept) {
  ComplexMatrix rows(int(kept.size()), filled_), h(h_.rows, h_.columns);
  for (int i = 0; i < rows.rows; ++i) {
    const int from = kept[std::size_t(i)];
    for (int j = 0; j < filled_; ++j) rows(i, j) = ritz.vectors(from, j);
    h(i, i).re = ritz.theta[std::size_t(from)];
    for (int a = 0; a < next_; ++a) h(rows.rows + a, i) = coupling(filled_ + a, 0, rows, i);
  }
  basis_.rotate(rows, next_);
  bytes_ = std::max(bytes_, basis_.bytes() + 4 * block_.bytes());
  h_ = std::move(h);
  filled_ = rows.rows;
}

void LanczosSearch::forget_coupling() {
  for (int i = filled_; i < std::min(filled_ + block_.n_rhs(), h_.rows); ++i)
    for (int j = 0; j < h_.columns; ++j) h_(i, j) = {};
}

void LanczosSearch::begin_anew() {
  forget_coupling();
  for (next_ = 0; next_ < block_.n_rhs(); ++next_) {
    ++counts_.random_vectors;
    if (!basis_.draw(filled_ + next_)) break;
  }
}

void LanczosSearch::widen(const Ritz& ritz) {
  ++counts_.widened;
  expected_ *= 1.5 * aim_.pairs / std::max(ritz.ordered, aim_.pairs / 2);
  const double from = std::max(range_.bound_of(expected_), 1.25 * filter_.from());
  // Vectors that have converged are eigenvectors of any polynomial. All others start the new one, as their sums.
  const int columns = block_.n_rhs(), first_sum = filled_ - columns;  // in the place of vectors that are not kept
  std::vector<int> kept;
  ComplexMatrix sums(columns, filled_);
  for (int i = 0; i < filled_; ++i)
    if (i < std::min(ritz.ordered, first_sum) && ritz.residual[std::size_t(i)] <= aim_.residual)
      kept.push_back(i);
    else if (i < aim_.pairs)
      for (int j = 0; j < filled_; ++j) {
        sums(i % columns, j).re += ritz.vectors(i, j).re;
        sums(i % columns, j).im += ritz.vectors(i, j).im;
      }
  Ritz changed = ritz;
  for (int i = 0; i < columns; ++i)
    for (int j = 0; j < filled_; ++j) changed.vectors(first_sum + i, j) = sums(i, j);
  const int converged = int(kept.size());
  for (int i = 0; i < columns; ++i) kept.push_back(first_sum + i);
  filter_ = from < filter_.to() / 2 ? choose_filter(range_, expected_, from, aim_.degree)
                                    : ChebyshevFilter(0, filter_.to(), 1);
  keep(changed, kept);
  filled_ = converged;
  h_ = ComplexMatrix(h_.rows, h_.columns);
  for (int i = 0; i < filled_; ++i) h_(i, i).re = filter_.value(ritz.lambda[std::size_t(kept[std::size_t(i)])]);
  const LanczosBasis::Block block = basis_.orthonormalize(filled_, columns);
  counts_.random_vectors += block.drawn;
  next_ = block.count;
}

// The pairs that have converged stay, and Lanczos begins anew orthogonal to them. In so few steps it finds about what a
// random vector filtered as often would show, and its vectors are of use where one is missing.
void LanczosSearch::begin_probe(const Ritz& ritz) {
  const Activity activity("probe for missing eigenpairs");
  std::vector<int> converged;
  for (int i = 0; i < ritz.ordered; ++i)
    if (ritz.residual[std::size_t(i)] <= aim_.residual) converged.push_back(i);
  const int room = basis_.size() - 2 * block_.n_rhs();
  if (int(converged.size()) > room) converged.resize(std::size_t(room));
  stage_.last = ritz.lambda[std::size_t(aim_.pairs - 1)];
  keep(ritz, converged);
  begin_anew();
  ++counts_.probes;
  stage_.probed = filled_;
}

LanczosSearch::Probe LanczosSearch::end_probe() {
  const Activity activity("probe for missing eigenpairs");
  const int kept = stage_.probed;
  if (next_ == 0) return Probe::complete;
  const int columns = block_.n_rhs();
  if (!extend(std::min(kept + probe_steps * columns, basis_.size() - columns))) return Probe::out_of_calls;
  stage_.probed = -1;
  const Ritz seen = ritz(kept);
  lowest_of_probe_ = seen.ordered > 0 ? seen.lambda[0] : filter_.from();
  int missing = 0;
  while (missing < seen.ordered && seen.lambda[std::size_t(missing)] < stage_.last - aim_.residual) ++missing;
  counts_.found_missing += missing;
  if (missing > 0) return Probe::missing;
  filled_ = kept;
  forget_coupling();
  return Probe::complete;
}

LanczosEnd LanczosSearch::run(const std::function<void(const LanczosCounts&)>& show) {
  show_ = show;
  const int size = basis_.size() - block_.n_rhs();
  const auto without_calls = [&] {
    if (aim_.keeper) keep_state();  // to go on with more calls
    return stage_.missing ? LanczosEnd::incomplete : LanczosEnd::out_of_calls;
  };
  for (;;) {
    if (stage_.probed >= 0) {
      const Probe result = end_probe();
      if (result == Probe::complete) return LanczosEnd::complete;
      if (result == Probe::out_of_calls) return without_calls();
      stage_.missing = true;
    }
    const bool may_go_on = extend(size);
    const Ritz now = ritz(0);
    counts_.converged = count_converged(now);
    if (!may_go_on) return without_calls();
    if (next_ == 0) return LanczosEnd::complete;
    if (counts_.converged == aim_.pairs) {
      begin_probe(now);
      continue;
    }
    const bool grew = now.ordered >= aim_.pairs || now.ordered > stage_.ordered_before;
    stage_.without_growth = grew ? 0 : stage_.without_growth + 1;
    stage_.ordered_before = now.ordered;
    ++counts_.restarts;
    if (stage_.without_growth == 2) {
      widen(now);
      stage_.ordered_before = -1, stage_.without_growth = 0;
      continue;
    }
    std::vector<int> kept(std::size_t(std::min(aim_.pairs + (size - aim_.pairs) / 2, size - next_)));
    std::iota(kept.begin(), kept.end(), 0);
    keep(now, kept);
  }
}

Eigenpairs LanczosSearch::pairs(StaggeredOperator& precise) {
  const Activity activity("eigenvectors");
  const Ritz now = ritz(0);
  const int n = std::min(aim_.pairs, now.ordered);
  std::vector<int> lowest(static_cast<std::size_t>(n));
  std::iota(lowest.begin(), lowest.end(), 0);
  Eigenpairs pairs;
  pairs.parity = parity_;
  if (n == 0) return pairs;
  keep(now, lowest);
  basis_.release_spare();

  // lambda = (v, K v) / (v, v) = |D v|^2 / |v|^2
  std::vector<ExactSum> hop_sums(1, ExactSum(1)), sums(1, ExactSum(1));
  ColorVectorField v = precise.make_vector(), Dv = precise.make_vector();
  std::vector<double> values;
  for (int i = 0; i < n; ++i) {
    v.convert_from(basis_[i]);
    const double Dv2 = precise.hop_and_norm2(Dv, v, opposite(parity_), hop_sums)[0];
    values.push_back(Dv2 / precise.norm2(v, sums)[0]);
  }
  counts_.calls += (n + 1) / 2;
  std::stable_sort(lowest.begin(), lowest.end(),
                   [&](int i, int j) { return values[std::size_t(i)] < values[std::size_t(j)]; });
  ComplexMatrix order(n, n);
  for (int i = 0; i < n; ++i) {
    order(i, lowest[std::size_t(i)]).re = 1;
    pairs.values.push_back(values[std::size_t(lowest[std::size_t(i)])]);
  }
  pairs.layout = std::make_shared<const SiteLayout>(d_.layout());
  pairs.pieces = std::make_shared<PinnedPieces>();
  pairs.space = d_.options().cuda_device >= 0 ? MemorySpace::cuda : MemorySpace::host;
  d_.communicator().agree([&] {
    for (int first = 0; first < n; first += Eigenpairs::vectors_per_block)
      pairs.blocks.emplace_back(*pairs.layout, d_.options().precision,
                                std::min(n - first, Eigenpairs::vectors_per_block), pairs.space, pairs.pieces.get());
  });
  basis_.combine(order, pairs.blocks);
  bytes_ = std::max(bytes_, basis_.bytes() + pairs.bytes());
  return pairs;
}

}  // namespace staghorn
