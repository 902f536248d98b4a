// Dense Hermitian eigenproblems: residuals and orthogonality for matrices of all kinds, known spectra, the ends of
// vectors of tridiagonal matrices, numbers that are not finite.
#include <cmath>
#include <limits>
#include <numbers>

#include "dirac/algebra/hermitian_eigen.hpp"
#include "halo/watch/error.hpp"
#include "tests/unit/unit_checks.hpp"

namespace staghorn {

namespace {

// Numbers around zero; the two halves of arrow and tridiagonal that a restarted Lanczos has; a multiple of one; pairs
// of values that differ in the last digits; numbers of all sizes; few values that are not zero, and rounding elsewhere.
enum class Kind { random, restarted, unit, close, graded, low_rank };

ComplexMatrix test_matrix(Kind kind, int n) {
  ComplexMatrix a(n, n);
  RandomStream random = test_stream(std::uint64_t(n));
  const int arrow = 2 * n / 3;
  for (int i = 0; i < n; ++i)
    for (int j = 0; j <= i; ++j) {
      const double x = random.uniform() - 0.5;
      const Complex<double> z = {x, i == j ? 0 : random.uniform() - 0.5};
      double re = 0;
      switch (kind) {
        case Kind::random:
          a(i, j) = z;
          break;
        case Kind::restarted:
          re = i == j ? 8 * x + (i < arrow ? 4 : 0) : i == arrow ? 1e-6 * x : i > arrow && j == i - 1 ? 0.5 : 0;
          a(i, j) = {re, i == arrow && i != j ? 1e-6 * z.im : 0};
          break;
        case Kind::unit:
          a(i, j).re = i == j ? 3 : 0;
          break;
        case Kind::close:
          re = i == j ? i / 2 + 1e-14 * i : 1e-15 * x;
          a(i, j) = {re, 1e-15 * z.im};
          break;
        case Kind::graded:
          re = std::ldexp(1.0, 400 - 8 * std::max(i, j));
          a(i, j) = {re * z.re, re * z.im};
          break;
        case Kind::low_rank:  // sum_k v_k v_k^dagger
          a(i, j) = {};
          for (int k = 1; k <= 3; ++k) {
            const double phase = 0.7 * k * k * (i - j), size = std::cos(i * k) * std::cos(j * k);
            a(i, j).re += size * std::cos(phase);
            a(i, j).im += i == j ? 0 : size * std::sin(phase);
          }
          break;
      }
    }
  return a;
}

// The largest |A v - lambda v| over |A|, and |V V^dagger - 1|.
bool is_solved(const ComplexMatrix& lower, double bound) {
  const int n = lower.rows;
  const HermitianEigen found = hermitian_eigen(lower);
  const auto a = [&](int i, int j) {
    Complex<double> element = lower(std::max(i, j), std::min(i, j));
    if (i < j) element.im = -element.im;
    return element;
  };
  double size = 0, residual = 0, departure = 0;
  for (int i = 0; i < n; ++i) size = std::max({size, std::fabs(found.values[std::size_t(i)])});
  for (int v = 0; v < n; ++v) {
    for (int i = 0; i < n; ++i) {
      const double value = found.values[std::size_t(v)] / size;
      Complex<double> r = {-value * found.vectors(v, i).re, -value * found.vectors(v, i).im};
      for (int j = 0; j < n; ++j) {
        const Complex<double> element = {a(i, j).re / size, a(i, j).im / size}, x = found.vectors(v, j);
        r.re += element.re * x.re - element.im * x.im;
        r.im += element.re * x.im + element.im * x.re;
      }
      residual = std::max({residual, std::fabs(r.re), std::fabs(r.im)});
    }
    for (int w = 0; w < n; ++w) {
      Complex<double> product = {v == w ? -1.0 : 0.0, 0};
      for (int i = 0; i < n; ++i) {
        const Complex<double> x = found.vectors(v, i), y = found.vectors(w, i);
        product.re += x.re * y.re + x.im * y.im;
        product.im += x.re * y.im - x.im * y.re;
      }
      departure = std::max({departure, std::fabs(product.re), std::fabs(product.im)});
    }
  }
  return CHECK(std::is_sorted(found.values.begin(), found.values.end())) && CHECK(residual < bound) &&
         CHECK(departure < bound);
}

bool matrices_are_diagonalised() {
  for (const Kind kind : {Kind::random, Kind::restarted, Kind::unit, Kind::close, Kind::graded, Kind::low_rank})
    for (const int n : {1, 2, 3, 10, 70, 130, 300})
      if (!CHECK(is_solved(test_matrix(kind, n), 40 * 0x1p-53 * std::sqrt(double(n))))) {
        std::printf("kind %d, n %d\n", int(kind), n);
        return false;
      }
  return true;
}

// The chain with 1 and i in turn beside the diagonal: lambda_k = 2 cos(k pi / (n + 1)), v_k(i) = sqrt(2 / (n + 1))
// sin(i k pi / (n + 1)).
bool spectrum_of_a_chain_is_the_known_one() {
  constexpr int n = 101;
  ComplexMatrix chain(n, n);
  for (int i = 1; i < n; ++i) chain(i, i - 1) = i % 2 ? Complex<double>{1, 0} : Complex<double>{0, 1};
  const HermitianEigen whole = hermitian_eigen(chain);
  const TridiagonalEnds ends = tridiagonal_ends(std::vector<double>(n, 0.0), std::vector<double>(n - 1, 1.0));
  double value = 0, end = 0;
  for (int i = 0; i < n; ++i) {
    const double angle = (n - i) * std::numbers::pi / (n + 1), expected = 2 * std::cos(angle);
    value = std::max(
        {value, std::fabs(whole.values[std::size_t(i)] - expected), std::fabs(ends.values[std::size_t(i)] - expected)});
    for (const int place : {0, n - 1}) {
      const double component = std::fabs(std::sqrt(2.0 / (n + 1)) * std::sin((place + 1) * angle));
      end = std::max({end, std::fabs(std::hypot(whole.vectors(i, place).re, whole.vectors(i, place).im) - component),
                      std::fabs(std::fabs((place > 0 ? ends.last : ends.first)[std::size_t(i)]) - component)});
    }
  }
  return CHECK(value < 20 * 0x1p-52) && CHECK(end < 40 * 0x1p-52);
}

bool matrices_that_are_not_finite_are_refused() {
  for (const double bad : {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    ComplexMatrix a(3, 3);
    a(2, 1).im = bad;
    try {
      hermitian_eigen(a);
      return CHECK(false);
    } catch (const Error&) {
    }
  }
  return true;
}

}  // namespace

std::vector<UnitCheck> hermitian_eigen_checks() {
  return {UNIT_CHECK(matrices_are_diagonalised), UNIT_CHECK(spectrum_of_a_chain_is_the_known_one),
          UNIT_CHECK(matrices_that_are_not_finite_are_refused)};
}

}  // namespace staghorn
