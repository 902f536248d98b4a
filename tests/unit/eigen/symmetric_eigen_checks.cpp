// Dense symmetric eigenproblems: residuals and orthogonality for matrices of all kinds, known spectra, the ends of
// vectors of tridiagonal matrices, numbers that are not finite.
#include <cmath>
#include <limits>
#include <numbers>

#include "dirac/algebra/symmetric_eigen.hpp"
#include "halo/watch/error.hpp"
#include "tests/unit/unit_checks.hpp"

namespace staghorn {

namespace {

// Reals around zero; the two halves of arrow and tridiagonal that a restarted Lanczos has; a multiple of one; pairs of
// values that differ in the last digits; numbers of all sizes.
enum class Kind { random, restarted, unit, close, graded };

RealMatrix test_matrix(Kind kind, int n) {
  RealMatrix a(n, n);
  RandomStream random = test_stream(std::uint64_t(n));
  const int arrow = 2 * n / 3;
  for (int i = 0; i < n; ++i)
    for (int j = 0; j <= i; ++j) {
      const double x = random.uniform() - 0.5;
      switch (kind) {
        case Kind::random:
          a(i, j) = x;
          break;
        case Kind::restarted:
          a(i, j) = i == j ? 8 * x + (i < arrow ? 4 : 0) : i == arrow ? 1e-6 * x : i > arrow && j == i - 1 ? 0.5 : 0;
          break;
        case Kind::unit:
          a(i, j) = i == j ? 3 : 0;
          break;
        case Kind::close:
          a(i, j) = i == j ? i / 2 + 1e-14 * i : 1e-15 * x;
          break;
        case Kind::graded:
          a(i, j) = x * std::ldexp(1.0, 400 - 8 * std::max(i, j));
          break;
      }
    }
  return a;
}

// The largest |A v - lambda v| over |A|, and |V V^T - 1|.
bool is_solved(const RealMatrix& lower, double bound) {
  const int n = lower.rows;
  const SymmetricEigen found = symmetric_eigen(lower);
  const auto a = [&](int i, int j) { return lower(std::max(i, j), std::min(i, j)); };
  double size = 0, residual = 0, departure = 0;
  for (int i = 0; i < n; ++i) size = std::max({size, std::fabs(found.values[std::size_t(i)])});
  for (int v = 0; v < n; ++v) {
    for (int i = 0; i < n; ++i) {
      double r = -found.values[std::size_t(v)] / size * found.vectors(v, i);
      for (int j = 0; j < n; ++j) r += a(i, j) / size * found.vectors(v, j);
      residual = std::max(residual, std::fabs(r));
    }
    for (int w = 0; w < n; ++w) {
      double product = v == w ? -1 : 0;
      for (int i = 0; i < n; ++i) product += found.vectors(v, i) * found.vectors(w, i);
      departure = std::max(departure, std::fabs(product));
    }
  }
  return CHECK(std::is_sorted(found.values.begin(), found.values.end())) && CHECK(residual < bound) &&
         CHECK(departure < bound);
}

bool symmetric_matrices_are_diagonalised() {
  for (const Kind kind : {Kind::random, Kind::restarted, Kind::unit, Kind::close, Kind::graded})
    for (const int n : {1, 2, 3, 10, 70})
      if (!CHECK(is_solved(test_matrix(kind, n), 40 * 0x1p-53 * std::sqrt(double(n))))) {
        std::printf("kind %d, n %d\n", int(kind), n);
        return false;
      }
  return true;
}

// The chain with 1 beside the diagonal: lambda_k = 2 cos(k pi / (n + 1)), v_k(i) = sqrt(2 / (n + 1)) sin(i k pi / (n +
// 1)).
bool spectrum_of_a_chain_is_the_known_one() {
  constexpr int n = 101;
  RealMatrix chain(n, n);
  for (int i = 1; i < n; ++i) chain(i, i - 1) = 1;
  const SymmetricEigen whole = symmetric_eigen(chain),
                       ends = tridiagonal_ends(std::vector<double>(n, 0.0), std::vector<double>(n - 1, 1.0));
  double value = 0, end = 0;
  for (int i = 0; i < n; ++i) {
    const double angle = (n - i) * std::numbers::pi / (n + 1), expected = 2 * std::cos(angle);
    value = std::max(
        {value, std::fabs(whole.values[std::size_t(i)] - expected), std::fabs(ends.values[std::size_t(i)] - expected)});
    for (const int place : {0, n - 1}) {
      const double component = std::fabs(std::sqrt(2.0 / (n + 1)) * std::sin((place + 1) * angle));
      end = std::max({end, std::fabs(std::fabs(whole.vectors(i, place)) - component),
                      std::fabs(std::fabs(ends.vectors(i, place > 0)) - component)});
    }
  }
  return CHECK(value < 20 * 0x1p-52) && CHECK(end < 40 * 0x1p-52);
}

bool symmetric_matrices_that_are_not_finite_are_refused() {
  for (const double bad : {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    RealMatrix a(3, 3);
    a(2, 1) = bad;
    try {
      symmetric_eigen(a);
      return CHECK(false);
    } catch (const Error&) {
    }
  }
  return true;
}

}  // namespace

std::vector<UnitCheck> symmetric_eigen_checks() {
  return {UNIT_CHECK(symmetric_matrices_are_diagonalised), UNIT_CHECK(spectrum_of_a_chain_is_the_known_one),
          UNIT_CHECK(symmetric_matrices_that_are_not_finite_are_refused)};
}

}  // namespace staghorn
