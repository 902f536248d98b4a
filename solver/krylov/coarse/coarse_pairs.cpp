#include "solver/krylov/coarse/coarse_pairs.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "dirac/algebra/hermitian_eigen.hpp"
#include "dirac/algebra/philox.hpp"
#include "halo/watch/activity.hpp"
#include "solver/eigen/chebyshev_filter.hpp"
#include "solver/eigen/spectral_range.hpp"

namespace staghorn {

namespace {

constexpr int range_steps = 64;
constexpr double nothing_left = 1e-10;  // of a vector: the basis holds all that its first vector reaches
constexpr std::uint64_t seed = 1;

// Gaussian numbers, by block and component.
CoarseVector random_vector(const CoarseMatrix& matrix, std::uint32_t number) {
  const CoarseVector like = matrix.make_vector(1);
  CoarseVector v(like.blocks, like.n, 1);
  for (std::int64_t b = 0; b < v.blocks; ++b) {
    RandomStream random(seed, RandomPurpose::lanczos_start, number,
                        std::uint64_t(matrix.grid().global_index(matrix.grid().coordinates(b))), 1);
    for (int k = 0; k < v.n; ++k) {
      const Complex<double> z = complex_gaussian(random);
      v.at(b, 0)[k] = z.re;
      v.at(b, 0)[v.width + k] = z.im;
    }
  }
  return CoarseVector(v, like.space());
}

void scale(double factor, CoarseVector& v) { add_scaled(std::vector<Complex<double>>(1), v, v, factor); }

// Orthonormal vectors, and how the newest one was made of the others.
class Basis {
 public:
  explicit Basis(const CoarseMatrix& matrix) : matrix_(matrix) {}

  std::vector<CoarseVector> vectors;

  // Adds what the vectors leave of v, which they are taken out of twice. Returns its coefficients along them, and at
  // last the norm of what was left; where nothing was, no vector is added.
  std::vector<Complex<double>> add(CoarseVector v) {
    const double before = norm(v);
    std::vector<Complex<double>> along(vectors.size());
    for (int pass = 0; pass < 2 && !vectors.empty(); ++pass) {
      std::vector<const CoarseVector*> all;
      for (const CoarseVector& u : vectors) all.push_back(&u);
      const std::vector<Complex<double>> c = coarse_dots(matrix_.sums(), all, v);
      for (std::size_t i = 0; i < c.size(); ++i) {
        add_scaled(std::vector<Complex<double>>{{-c[i].re, -c[i].im}}, vectors[i], v);
        along[i] = {along[i].re + c[i].re, along[i].im + c[i].im};
      }
    }
    const double left = norm(v);
    along.push_back({left, 0});
    if (left > nothing_left * before) {
      scale(1 / left, v);
      vectors.push_back(std::move(v));
    }
    return along;
  }

  // sum_j c(i, j) v_j
  CoarseVector combination(const ComplexMatrix& c, int i) const {
    CoarseVector sum = matrix_.make_vector(1);
    for (int j = 0; j < c.columns; ++j) add_scaled(std::vector<Complex<double>>{c(i, j)}, vectors[std::size_t(j)], sum);
    return sum;
  }

 private:
  double norm(const CoarseVector& v) const {
    const CoarseVector* const one[] = {&v};
    return std::sqrt(coarse_dots(matrix_.sums(), one, v)[0].re);
  }

  const CoarseMatrix& matrix_;
};

// As find_spectral_range of the fine lattice (eigen/spectral_range.hpp).
SpectralRange coarse_range(const CoarseMatrix& matrix, std::int64_t dimension) {
  SpectralRange range;
  range.dimension = dimension;
  Basis basis(matrix);
  basis.add(random_vector(matrix, 0));
  std::vector<double> alpha, beta;
  CoarseVector product = matrix.make_vector(1);
  while (int(alpha.size()) < std::min<std::int64_t>(range_steps, dimension)) {
    matrix.apply(basis.vectors.back(), product);
    ++range.calls;
    const std::size_t n = basis.vectors.size();
    const std::vector<Complex<double>> along = basis.add(product);
    alpha.push_back(along[n - 1].re);
    beta.push_back(along[n].re);
    if (basis.vectors.size() == n) break;
  }
  const TridiagonalEnds ritz = tridiagonal_ends(alpha, {beta.begin(), beta.end() - 1});
  range.nodes = ritz.values;
  range.largest = ritz.values.back();
  range.residual = std::fabs(beta.back() * ritz.last.back());
  double sum = 0;
  for (const double first : ritz.first) range.below.push_back((sum += first * first) * double(dimension));
  return range;
}

// out = T(E(0)) in, by t_{j+1} = 2 x t_j - t_{j-1} with x = (from + to - 2 E) / (to - from).
void apply_filter(const CoarseMatrix& matrix, const ChebyshevFilter& filter, const CoarseVector& in,
                  CoarseVector& out) {
  const double centre = (filter.from() + filter.to()) / 2, half_width = (filter.to() - filter.from()) / 2;
  CoarseVector before = in, product = matrix.make_vector(1);
  const auto step = [&](const CoarseVector& v, double factor, double own, CoarseVector& result) {
    matrix.apply(v, product);  // result = own result + factor x v
    add_scaled(std::vector<Complex<double>>{{factor * centre / half_width, 0}}, v, result, own);
    add_scaled(std::vector<Complex<double>>{{-factor / half_width, 0}}, product, result);
    made_progress();
  };
  out = matrix.make_vector(1);
  step(in, 1, 1, out);
  for (int j = 1; j < filter.degree(); ++j) {
    step(out, 2, -1, before);
    std::swap(out, before);
  }
}

}  // namespace

int coarse_search_vectors(int count) { return 2 * count + 16; }

CoarsePairs find_coarse_pairs(const CoarseMatrix& matrix, int count) {
  const Activity activity("coarse eigenpairs");
  const std::int64_t dimension = matrix.grid().global_count() * matrix.n();
  count = int(std::min<std::int64_t>(count, dimension / 4));
  CoarsePairs pairs;
  const SpectralRange range = coarse_range(matrix, dimension);
  pairs.largest = range.upper_end();
  pairs.products = range.calls;
  if (count == 0 || !(range.upper_end() > 0)) return pairs;
  const double to = range.upper_end(), from = std::min(range.bound_of(count), to / 2);
  const ChebyshevFilter filter(from, to, 2 * int(std::clamp(2 * std::sqrt(to / from), 2.0, 50.0)));
  Basis basis(matrix);
  basis.add(random_vector(matrix, 1));
  CoarseVector filtered = matrix.make_vector(1);
  const int most = coarse_search_vectors(count);
  ComplexMatrix h(most, most);
  int n = 0;
  while (n < most && n < int(basis.vectors.size())) {
    apply_filter(matrix, filter, basis.vectors.back(), filtered);
    pairs.products += filter.degree();
    const std::vector<Complex<double>> along = basis.add(filtered);
    for (int i = 0; i <= n; ++i) h(n, i) = {along[std::size_t(i)].re, -along[std::size_t(i)].im};
    ++n;
  }
  basis.vectors.erase(basis.vectors.begin() + n, basis.vectors.end());
  ComplexMatrix of_basis(n, n);
  for (int i = 0; i < n; ++i)
    for (int j = 0; j <= i; ++j) of_basis(i, j) = h(i, j);
  const HermitianEigen ritz = hermitian_eigen(of_basis);
  // Rayleigh and Ritz with E(0) in the space of the vectors with the largest T.
  Basis found(matrix);
  count = std::min(count, n);
  for (int i = 0; i < count; ++i) found.vectors.push_back(basis.combination(ritz.vectors, n - 1 - i));
  ComplexMatrix galerkin(count, count);
  for (int i = 0; i < count; ++i) {
    matrix.apply(found.vectors[std::size_t(i)], filtered);
    std::vector<const CoarseVector*> all;
    for (int j = 0; j <= i; ++j) all.push_back(&found.vectors[std::size_t(j)]);
    const std::vector<Complex<double>> products = coarse_dots(matrix.sums(), all, filtered);
    for (int j = 0; j <= i; ++j) galerkin(i, j) = {products[std::size_t(j)].re, -products[std::size_t(j)].im};
  }
  pairs.products += count;
  const HermitianEigen of_matrix = hermitian_eigen(galerkin);
  pairs.values = of_matrix.values;
  for (int i = 0; i < count; ++i) pairs.vectors.push_back(found.combination(of_matrix.vectors, i));
  return pairs;
}

}  // namespace staghorn
