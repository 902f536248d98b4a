#include "solver/eigen/deflation.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "dirac/kernels/kernel_table.hpp"
#include "halo/watch/activity.hpp"
#include "halo/watch/error.hpp"
#include "halo/watch/stopwatch.hpp"
#include "solver/eigen/lanczos_basis.hpp"

namespace staghorn {

namespace {

constexpr int per_block = Eigenpairs::vectors_per_block;

// The polynomial that damps rounding: its degree, and where its interval begins, over the end of the spectrum.
constexpr int filter_degree = 4;
constexpr double filter_begin = 1.0 / 8;
constexpr int power_steps = 20;
constexpr double beyond_largest = 1.1;  // what so many steps may have missed

// The blocks from `first` on, at most `most` of them.
std::vector<const ColorVectorField*> some(const std::vector<ColorVectorField>& blocks, std::size_t first,
                                          std::size_t most) {
  std::vector<const ColorVectorField*> group;
  for (std::size_t i = first; i < std::min(first + most, blocks.size()); ++i) group.push_back(&blocks[i]);
  return group;
}

}  // namespace

Deflation::Deflation(const Communicator& communicator, Eigenpairs pairs, const KernelTable& kernels)
    : communicator_(communicator),
      pairs_(std::move(pairs)),
      space_(kernels.space),
      algebra_(communicator, *pairs_.layout, kernels),
      scales_(std::size_t(pairs_.count())) {}

Deflation::Work& Deflation::work(int n_rhs) {
  if (n_rhs > most_rhs)
    throw Error("eigenvectors", "at most " + std::to_string(most_rhs) + " right-hand sides at once", n_rhs);
  const auto make = [&] { return ColorVectorField(*pairs_.layout, precision(), n_rhs, space_, pairs_.pieces.get()); };
  if (!work_ || work_->in.n_rhs() != n_rhs) {
    work_.reset();
    communicator_.agree([&] { work_.emplace(Work{make(), make()}); });
  }
  return *work_;
}

ComplexMatrix Deflation::coefficients(StaggeredOperator& d, Parity parity, const ColorVectorField& r) {
  const Activity activity("deflation");
  const Stopwatch watch;
  ++use_.projections;
  Work& work = this->work(r.n_rhs());
  const ColorVectorField* in = &r;
  const bool partner = parity != pairs_.parity;
  if (partner) {
    ColorVectorField other = d.make_vector();
    d.hop(other, r, pairs_.parity);
    if (damps(parity)) damp(d, other);
    work.in.convert_from(other);
    in = &work.in;
  } else if (r.precision() != precision()) {
    work.in.convert_from(r);
    in = &work.in;
  }
  ComplexMatrix all = products(*in);
  if (partner)
    for (int i = 0; i < all.rows; ++i) {
      const double factor = -1 / damping(d, parity, pairs_.values[std::size_t(i)]);  // (D_oe)^+ r = -D_eo r
      for (int j = 0; j < all.columns; ++j) all(i, j) = {factor * all(i, j).re, factor * all(i, j).im};
    }
  use_.seconds += watch.seconds();
  return all;
}

std::vector<Complex<double>> Deflation::components(const VectorField& field) {
  ColorVectorField& in = work(1).in;
  in.pack(pairs_.parity, 0, field);
  return products(in).elements;
}

ComplexMatrix Deflation::products(const ColorVectorField& r) {
  ComplexMatrix all(int(pairs_.count()), r.n_rhs());
  ColumnScales scales;  // of r: found by the first product
  const ColorVectorField* right[] = {&r};
  const int at_once = r.n_rhs() == 1 ? VectorAlgebra::max_products : VectorAlgebra::max_columns;
  const std::size_t most_blocks = std::size_t(at_once / per_block);
  int row = 0;
  for (std::size_t block = 0; block < pairs_.blocks.size(); block += most_blocks) {
    const std::vector<const ColorVectorField*> group = some(pairs_.blocks, block, most_blocks);
    const auto first = scales_.begin() + row;
    ColumnScales of_group(first, first + std::min(all.rows - row, int(most_blocks) * per_block));
    const ComplexMatrix part = algebra_.gram(group, right, &of_group, &scales);
    std::copy(of_group.begin(), of_group.end(), first);
    std::copy(part.elements.begin(), part.elements.end(), &all(row, 0));
    row += part.rows;
  }
  return all;
}

double Deflation::damping(StaggeredOperator& d, Parity parity, double lambda) {
  if (!damps(parity)) return 1;
  const std::optional<ChebyshevFilter>& t = filter(d);
  return t ? t->value(lambda) : 1;
}

void Deflation::damp(StaggeredOperator& d, ColorVectorField& v) {
  const std::optional<ChebyshevFilter>& t = filter(d);
  if (!t) return;
  ChebyshevFilter::Work vectors(d);
  ColorVectorField damped = d.make_vector();
  t->apply(d, pairs_.parity, v, damped, vectors);
  std::swap(v, damped);
}

const std::optional<ChebyshevFilter>& Deflation::filter(StaggeredOperator& d) {
  const OperatorOptions& options = d.options();
  const std::tuple of(options.precision, options.reconstruct, options.naik_reconstruct);
  if (filter_of_ != of) {
    filter_ = make_filter(d);
    filter_of_ = of;
  }
  return filter_;
}

// The end of the spectrum by the power method: a polynomial is not much larger a little beyond its interval. None where
// the pairs are so many that the interval would hold some of them, or next to nothing.
std::optional<ChebyshevFilter> Deflation::make_filter(StaggeredOperator& d) const {
  const Parity parity = pairs_.parity;
  ColorVectorField v = d.make_vector(), other = d.make_vector();
  std::vector<ExactSum> sums(std::size_t(v.n_rhs()), ExactSum(1)), hop_sums = sums;
  draw_gaussian(d, v, parity, 0, 0);  // the first right-hand side
  double largest = 0;
  for (int step = 0; step < power_steps; ++step) {
    d.combine(0, v, 1 / std::sqrt(d.norm2(v, sums)[0]), v);
    largest = d.hop_and_norm2(other, v, opposite(parity), hop_sums)[0];
    d.hop(v, other, parity);
  }
  const double to = beyond_largest * largest, from = std::max(filter_begin * to, 1.5 * pairs_.values.back());
  if (from > to / 2) return std::nullopt;
  return ChebyshevFilter(from, to, filter_degree);
}

void Deflation::combine(StaggeredOperator& d, Parity parity, const ComplexMatrix& coefficients,
                        const std::function<double(double)>& weight, ColorVectorField& result) {
  const Activity activity("deflation");
  const Stopwatch watch;
  const bool partner = parity != pairs_.parity;
  Work& work = this->work(result.n_rhs());
  ColorVectorField* out[] = {partner || result.precision() != precision() ? &work.out : &result};
  const int n = result.n_rhs();
  const int most_blocks = std::min(VectorAlgebra::max_combined, 1024 / n) / per_block;
  int first = 0;
  for (std::size_t block = 0; block < pairs_.blocks.size(); block += std::size_t(most_blocks)) {
    const std::vector<const ColorVectorField*> group = some(pairs_.blocks, block, std::size_t(most_blocks));
    ComplexMatrix c(std::min(int(pairs_.count()) - first, most_blocks * per_block), n);
    for (int i = 0; i < c.rows; ++i) {
      const double lambda = pairs_.values[std::size_t(first + i)];
      const double divisor = partner ? lambda * damping(d, parity, lambda) : 1;
      const double w = partner && !(lambda > 0) ? 0 : weight(lambda) / divisor;
      for (int j = 0; j < n; ++j) c(i, j) = {w * coefficients(first + i, j).re, w * coefficients(first + i, j).im};
    }
    algebra_.combine(group, c, out, block > 0);
    first += c.rows;
  }
  if (partner) {
    ColorVectorField even = d.make_vector();
    even.convert_from(work.out);
    if (damps(parity)) damp(d, even);
    d.hop(result, even, parity);
  } else if (out[0] != &result) {
    result.convert_from(work.out);
  }
  use_.seconds += watch.seconds();
}

void Deflation::project(StaggeredOperator& d, Parity parity, double shift, const ColorVectorField& r,
                        std::span<const char> active, ColorVectorField& correction) {
  ComplexMatrix c = coefficients(d, parity, r);
  for (int i = 0; i < c.rows; ++i)
    for (int j = 0; j < c.columns; ++j)
      if (!active[std::size_t(j)]) c(i, j) = {0, 0};
  combine(
      d, parity, c, [&](double lambda) { return 1 / (lambda + shift); }, correction);
}

}  // namespace staghorn
