#include "solver/eigen/lanczos_search.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "dirac/operators/vector_algebra.hpp"
#include "halo/watch/activity.hpp"

namespace staghorn {

namespace {

constexpr int largest_basis = 1500;  // the dense eigenproblem of every restart takes 9 n^3 flops on one core
constexpr int probe_steps = 12;
// What T leaves of a vector, over |T v|, below which the basis reaches no further.
constexpr double exhausted = 1e-12;

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

LanczosSearch::LanczosSearch(StaggeredOperator& d, Parity parity, const SpectralRange& range, const LanczosAim& aim)
    : d_(d),
      parity_(parity),
      range_(range),
      aim_(aim),
      expected_(wanted_below(aim.pairs)),
      filter_(choose_filter(range, expected_, aim.from, aim.degree)),
      work_(d),
      basis_(d, parity, basis_size(aim.pairs, range.dimension) + 1, aim.seed),
      h_(basis_.size(), basis_.size()) {
  counts_.calls = range.calls;
  if (const SearchNumbers* const kept = aim.keeper ? aim.keeper->kept_numbers() : nullptr)
    take_state(*kept);
  else
    begin_anew();
}

LanczosSearch::Ritz LanczosSearch::ritz(int first) const {
  const int n = filled_ - first;
  RealMatrix h(n, n);
  for (int i = 0; i < n; ++i)
    for (int j = 0; j <= i; ++j) h(i, j) = h_(first + i, first + j);
  SymmetricEigen ascending = symmetric_eigen(std::move(h));
  Ritz found{RealMatrix(n, n), std::vector<double>(ascending.values.rbegin(), ascending.values.rend()), 0, {}, {}};
  for (int i = 0; i < n; ++i) std::copy_n(ascending.vectors.row(n - 1 - i), n, found.vectors.row(i));
  while (found.ordered < n && filter_.is_ordered(found.theta[std::size_t(found.ordered)])) {
    const int i = found.ordered++;
    const double theta = found.theta[std::size_t(i)], lambda = filter_.eigenvalue(theta);
    double coupled = 0;
    for (int j = 0; j < n; ++j) coupled += h_(filled_, first + j) * found.vectors(i, j);
    found.lambda.push_back(lambda);
    found.residual.push_back(std::fabs(coupled) * filter_.residual_factor(theta, lambda));
  }
  return found;
}

int LanczosSearch::count_converged(const Ritz& ritz) const {
  const auto begin = ritz.residual.begin();
  return int(std::count_if(begin, begin + std::min(aim_.pairs, ritz.ordered),
                           [&](double residual) { return residual <= aim_.residual; }));
}

bool LanczosSearch::extend(int size) {
  while (filled_ < size && !full_) {
    if (aim_.keeper && aim_.keeper->is_due()) keep_state();
    if (counts_.calls + filter_.degree() + (aim_.pairs + 1) / 2 > aim_.max_calls) return false;
    if (aim_.interrupted && *aim_.interrupted) return false;
    const int j = filled_, next = j + 1;
    filter_.apply(d_, parity_, basis_[j], basis_[next], work_);
    counts_.calls += filter_.degree();
    ++counts_.filtered;
    if (show_) show_(counts_);
    const LanczosBasis::Remainder left = basis_.orthonormalize(next);
    h_(j, j) = left.along;
    std::fill_n(h_.row(next), h_.columns, 0.0);
    filled_ = next;
    if (left.norm > exhausted * left.before) {
      h_(next, j) = left.norm;
    } else {
      ++counts_.random_vectors;
      full_ = !basis_.draw(next);
    }
  }
  return true;
}

void LanczosSearch::keep(const Ritz& ritz, const std::vector<int>& kept) {
  RealMatrix rows(int(kept.size()), filled_), h(h_.rows, h_.columns);
  for (int i = 0; i < rows.rows; ++i) {
    const int from = kept[std::size_t(i)];
    std::copy_n(ritz.vectors.row(from), filled_, rows.row(i));
    h(i, i) = ritz.theta[std::size_t(from)];
    for (int j = 0; j < filled_; ++j) h(rows.rows, i) += h_(filled_, j) * rows(i, j);
  }
  basis_.rotate(rows);
  bytes_ = std::max(bytes_, basis_.bytes() + work_.next.bytes() + work_.other.bytes());
  h_ = std::move(h);
  filled_ = rows.rows;
}

void LanczosSearch::begin_anew() {
  std::fill_n(h_.row(filled_), h_.columns, 0.0);
  ++counts_.random_vectors;
  full_ = !basis_.draw(filled_);
}

void LanczosSearch::widen(const Ritz& ritz) {
  ++counts_.widened;
  expected_ *= 1.5 * aim_.pairs / std::max(ritz.ordered, aim_.pairs / 2);
  const double from = std::max(range_.bound_of(expected_), 1.25 * filter_.from());
  // Vectors that have converged are eigenvectors of any polynomial. All others start the new one, as their sum.
  std::vector<int> converged;
  RealMatrix sum(1, filled_);
  for (int i = 0; i < filled_; ++i)
    if (i < ritz.ordered && ritz.residual[std::size_t(i)] <= aim_.residual)
      converged.push_back(i);
    else if (i < aim_.pairs)
      for (int j = 0; j < filled_; ++j) sum(0, j) += ritz.vectors(i, j);
  Ritz changed = ritz;
  std::copy_n(sum.row(0), filled_, changed.vectors.row(filled_ - 1));  // in the place of one that is not kept
  converged.push_back(filled_ - 1);
  filter_ = from < filter_.to() / 2 ? choose_filter(range_, expected_, from, aim_.degree)
                                    : ChebyshevFilter(0, filter_.to(), 1);
  keep(changed, converged);
  --filled_;
  std::fill_n(h_.row(filled_), h_.columns, 0.0);
  for (int i = 0; i < filled_; ++i) h_(i, i) = filter_.value(ritz.lambda[std::size_t(converged[std::size_t(i)])]);
  basis_.orthonormalize(filled_);
}

// The pairs that have converged stay, and Lanczos begins anew orthogonal to them. In so few steps it finds about what a
// random vector filtered as often would show, and its vectors are of use where one is missing.
void LanczosSearch::begin_probe(const Ritz& ritz) {
  const Activity activity("probe for missing eigenpairs");
  std::vector<int> converged;
  for (int i = 0; i < ritz.ordered; ++i)
    if (ritz.residual[std::size_t(i)] <= aim_.residual) converged.push_back(i);
  if (int(converged.size()) + 1 >= basis_.size()) converged.resize(std::size_t(basis_.size() - 2));
  stage_.last = ritz.lambda[std::size_t(aim_.pairs - 1)];
  keep(ritz, converged);
  begin_anew();
  ++counts_.probes;
  stage_.probed = filled_;
}

LanczosSearch::Probe LanczosSearch::end_probe() {
  const Activity activity("probe for missing eigenpairs");
  const int kept = stage_.probed;
  if (full_) return Probe::complete;
  if (!extend(std::min(kept + probe_steps, basis_.size() - 1))) return Probe::out_of_calls;
  stage_.probed = -1;
  const Ritz seen = ritz(kept);
  lowest_of_probe_ = seen.ordered > 0 ? seen.lambda[0] : filter_.from();
  int missing = 0;
  while (missing < seen.ordered && seen.lambda[std::size_t(missing)] < stage_.last - aim_.residual) ++missing;
  counts_.found_missing += missing;
  if (missing > 0) return Probe::missing;
  filled_ = kept;
  std::fill_n(h_.row(filled_), h_.columns, 0.0);
  return Probe::complete;
}

LanczosEnd LanczosSearch::run(const std::function<void(const LanczosCounts&)>& show) {
  show_ = show;
  const int size = basis_.size() - 1;
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
    if (full_) return LanczosEnd::complete;
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
    std::vector<int> kept(std::size_t(std::min(aim_.pairs + (size - aim_.pairs) / 2, size - 1)));
    std::iota(kept.begin(), kept.end(), 0);
    keep(now, kept);
  }
}

Eigenpairs LanczosSearch::pairs() {
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
  std::vector<double> values;
  for (int i = 0; i < n; ++i) {
    const double Dv2 = d_.hop_and_norm2(work_.other, basis_[i], opposite(parity_), hop_sums)[0];
    values.push_back(Dv2 / d_.norm2(basis_[i], sums)[0]);
  }
  counts_.calls += (n + 1) / 2;
  std::stable_sort(lowest.begin(), lowest.end(),
                   [&](int i, int j) { return values[std::size_t(i)] < values[std::size_t(j)]; });
  RealMatrix order(n, n);
  for (int i = 0; i < n; ++i) {
    order(i, lowest[std::size_t(i)]) = 1;
    pairs.values.push_back(values[std::size_t(lowest[std::size_t(i)])]);
  }
  pairs.layout = std::make_shared<const SiteLayout>(d_.layout());
  pairs.pieces = std::make_shared<PinnedPieces>();
  const MemorySpace space = d_.options().cuda_device >= 0 ? MemorySpace::cuda : MemorySpace::host;
  d_.communicator().agree([&] {
    for (int first = 0; first < n; first += Eigenpairs::vectors_per_block)
      pairs.blocks.emplace_back(*pairs.layout, d_.options().precision,
                                std::min(n - first, Eigenpairs::vectors_per_block), space, pairs.pieces.get());
  });
  basis_.combine(order, pairs.blocks);
  bytes_ = std::max(bytes_, basis_.bytes() + pairs.bytes());
  return pairs;
}

}  // namespace staghorn
