// Projection onto SU(3), the heatbath in SU(2) subgroups, and links stored as eight reals; links of U(3) as 13 and 9;
// Cholesky factors of small dense matrices.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>

#include "dirac/algebra/block_cholesky.hpp"
#include "dirac/algebra/link_forms.hpp"
#include "dirac/algebra/su3_matrix.hpp"
#include "dirac/gauge/su2_subgroup.hpp"
#include "dirac/gauge/unitary_projection.hpp"
#include "tests/unit/unit_checks.hpp"

namespace staghorn {

namespace {

bool projected_matrices_are_in_su3() {
  double worst = 0;
  for (int i = 0; i < 1000; ++i) {
    RandomStream random = test_stream(i);
    ColorMatrix<double> u = random_matrix(random);
    project_su3(u);
    const ColorMatrix<double> product = u * adjoint(u);
    for (int a = 0; a < 3; ++a)
      for (int b = 0; b < 3; ++b)
        worst = std::max(worst, std::hypot(product.e[a][b].re - (a == b), product.e[a][b].im));
    const Complex<double> det = determinant(u);
    worst = std::max(worst, std::hypot(det.re - 1, det.im));
  }
  std::printf("worst deviation: %.2e\n", worst);
  return CHECK(worst < 1e-13);
}

// <h0> = I2(alpha) / I1(alpha), and no direction is preferred. Both ways of drawing are tested. The bounds are five
// standard errors.
bool heatbath_draws_have_the_exact_mean() {
  const int n = 200000;
  bool holds = true;
  for (const double alpha : {0.0, 0.2, 0.45, 0.55, 2.0, 10.0, 40.0}) {
    double h0 = 0, h1 = 0, h2 = 0, h3 = 0, length = 0;
    for (int i = 0; i < n; ++i) {
      RandomStream random = test_stream(i);
      const Su2 h = random_su2(alpha, random);
      h0 += h.h[0] / n, h1 += h.h[1] / n, h2 += h.h[2] / n, h3 += h.h[3] / n;
      double norm2 = 0;
      for (const double component : h.h) norm2 += component * component;
      length = std::max(length, std::fabs(norm2 - 1));
    }
    const double exact = alpha > 0 ? std::cyl_bessel_i(2.0, alpha) / std::cyl_bessel_i(1.0, alpha) : 0;
    // 1 - <h0^2> = 3 <h0> / alpha, shared equally by the other three.
    const double rest = alpha > 0 ? exact / alpha : 0.25;
    const double error0 = 5 * std::sqrt((1 - 3 * rest - exact * exact) / n), error = 5 * std::sqrt(rest / n);
    std::printf("alpha %5.2f: <h0> - exact = %+.5f, directions %+.5f %+.5f %+.5f, ||h| - 1| %.1e\n", alpha, h0 - exact,
                h1, h2, h3, length);
    holds = holds && std::fabs(h0 - exact) < error0 && length < 1e-14 &&
            std::max({std::fabs(h1), std::fabs(h2), std::fabs(h3)}) < error;
  }
  return holds;
}

// Multiplying by the two factors of the over-relaxed rotation leaves Re tr(U V^dagger) where it was, but moves U.
bool overrelaxation_keeps_the_action() {
  double worst = 0;
  for (int i = 0; i < 1000; ++i) {
    RandomStream random = test_stream(i);
    ColorMatrix<double> u = random_matrix(random);
    const ColorMatrix<double> path = random_matrix(random);
    project_su3(u);
    const double before = real_trace_adjoint(u, path);
    for (int subgroup = 0; subgroup < 3; ++subgroup) {
      const Subgroup s = su3_subgroup(subgroup);
      double k;
      const Su2 v = project_block(u * adjoint(path), s, k);
      const ColorMatrix<double> old = u;
      multiply_rows(u, s, adjoint(v * v));
      if (!CHECK(real_trace_adjoint(u, old) <= 3 - 1e-6)) return false;
    }
    worst = std::max(worst, std::fabs(real_trace_adjoint(u, path) - before));
  }
  std::printf("worst change of Re tr(U V^dagger): %.2e\n", worst);
  return CHECK(worst < 1e-13);
}

// Onto SU(3) to rounding, however badly conditioned the matrix is.
void project_twice(ColorMatrix<double>& u) {
  project_su3(u);
  project_su3(u);
}

template <class Stored>
constexpr double epsilon = std::numeric_limits<Stored>::epsilon();
template <>
constexpr double epsilon<std::int16_t> = 1.0 / 32767;

// The largest deviation of a link that was stored as eight reals and rebuilt, in units of what the reals resolve.
template <class Stored>
double eight_reals_deviation(const ColorMatrix<double>& u) {
  Stored stored[8];
  compress_link(u, stored);
  Arithmetic<Stored> reals[8];
  for (int k = 0; k < 8; ++k) reals[k] = stored[k];
  const ColorMatrix<Arithmetic<Stored>> rebuilt = link_from_reals<Stored>(reals);
  double worst = 0;
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j)
      worst =
          std::max({worst, std::fabs(rebuilt.e[i][j].re - u.e[i][j].re), std::fabs(rebuilt.e[i][j].im - u.e[i][j].im)});
  return worst / epsilon<Stored>;
}

bool eight_reals_hold_any_link() {
  constexpr double most = 10;  // epsilon; on average the worst of a link's 18 reals is off by one
  double worst[3] = {};
  const auto take = [&](const ColorMatrix<double>& u) {
    worst[0] = std::max(worst[0], eight_reals_deviation<double>(u));
    worst[1] = std::max(worst[1], eight_reals_deviation<float>(u));
    worst[2] = std::max(worst[2], eight_reals_deviation<std::int16_t>(u));
  };
  const auto report = [&](const char* links) {
    std::printf("%s: fp64 %.2f, fp32 %.2f, fp16 %.2f epsilon\n", links, worst[0], worst[1], worst[2]);
  };
  take(identity_matrix<double>());
  if (!CHECK(worst[0] == 0) || !CHECK(worst[1] == 0) || !CHECK(worst[2] == 0)) return false;

  // A corner is a matrix with one element a row, each 1, -1, i or -i. Corners are the poles of both spheres and the
  // points farthest from the poles. All corners are tried, then links a small step away from a corner, then random
  // links.
  constexpr int places[6][3] = {{0, 1, 2}, {1, 2, 0}, {2, 0, 1}, {0, 2, 1}, {1, 0, 2}, {2, 1, 0}};
  constexpr Complex<double> phases[4] = {{1, 0}, {-1, 0}, {0, 1}, {0, -1}};
  std::vector<ColorMatrix<double>> corners;
  for (const auto& place : places)
    for (int k = 0; k < 16; ++k) {
      ColorMatrix<double> u{};
      u.e[0][place[0]] = phases[k / 4], u.e[1][place[1]] = phases[k % 4];
      conjugate_cross(u.e[0], u.e[1], u.e[2]);
      take(u);
      corners.push_back(u);
    }
  report("corners");
  int draw = 0;
  for (const ColorMatrix<double>& corner : corners)
    for (double step = 1; step > 1e-20; step /= 10)
      for (int k = 0; k < 20; ++k) {
        RandomStream random = test_stream(draw++);
        ColorMatrix<double> u = corner;
        for (auto& row : u.e)
          for (auto& element : row) {
            const Complex<double> noise = complex_gaussian(random);
            element = {element.re + step * noise.re, element.im + step * noise.im};
          }
        project_twice(u);
        take(u);
      }
  report("near corners");
  for (int k = 0; k < 200000; ++k) {
    RandomStream random = test_stream(k);
    ColorMatrix<double> u = random_matrix(random);
    project_twice(u);
    take(u);
  }
  report("random links");
  return CHECK(worst[0] < most) && CHECK(worst[1] < most) && CHECK(worst[2] < most);
}

// The same for a link of U(3) that was stored as 13 or 9 reals.
template <class Stored, int Reals>
double u3_deviation(const ColorMatrix<double>& u) {
  Stored stored[Reals];
  if (!store_link(u, Reals, stored)) return std::numeric_limits<double>::infinity();
  Arithmetic<Stored> reals[Reals];
  for (int k = 0; k < Reals; ++k) reals[k] = stored[k];
  const ColorMatrix<Arithmetic<Stored>> rebuilt = link_from_reals<Stored>(reals);
  double worst = 0;
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) {
      const double unit = link_unit<Stored, Reals> * (i == 2 ? third_row_unit<Stored, Reals> : 1);
      worst = std::max({worst, std::fabs(unit * rebuilt.e[i][j].re - u.e[i][j].re),
                        std::fabs(unit * rebuilt.e[i][j].im - u.e[i][j].im)});
    }
  return worst / epsilon<Stored>;
}

// Determinants all round the circle: 1, -1, i, -i, the neighbourhood of each, and random ones.
bool naik_forms_hold_any_link_of_u3() {
  double worst[6] = {};
  const auto take = [&](const ColorMatrix<double>& u) {
    const double found[6] = {u3_deviation<double, 13>(u), u3_deviation<float, 13>(u), u3_deviation<std::int16_t, 13>(u),
                             u3_deviation<double, 9>(u),  u3_deviation<float, 9>(u),  u3_deviation<std::int16_t, 9>(u)};
    for (int k = 0; k < 6; ++k) worst[k] = std::max(worst[k], found[k]);
  };
  take(identity_matrix<double>());
  for (const int exact : {0, 1, 3, 4, 5})  // fp16 with 13 reals has a product of units in the third row
    if (!CHECK(worst[exact] == 0)) return false;

  for (int k = 0; k < 40000; ++k) {
    RandomStream random = test_stream(k);
    ColorMatrix<double> u = random_matrix(random);
    project_twice(u);
    const Complex<double> directions[4] = {{1, 0}, {-1, 0}, {0, 1}, {0, -1}}, noise = complex_gaussian(random);
    const double step = k % 5 == 4 ? 10 : std::pow(10.0, -(k / 20 % 18));
    Complex<double> det = directions[k % 4];
    if (k % 5 > 0) det = {det.re + step * noise.re, det.im + step * noise.im};
    const double size = std::hypot(det.re, det.im);
    for (auto& e : u.e[2]) e = Complex<double>{det.re / size, det.im / size} * e;
    take(project_unitary(u).unitary);
  }
  std::printf("13 reals: fp64 %.2f, fp32 %.2f, fp16 %.2f epsilon; 9 reals: %.2f, %.2f, %.2f\n", worst[0], worst[1],
              worst[2], worst[3], worst[4], worst[5]);
  for (int k = 0; k < 6; ++k)
    if (!CHECK(worst[k] < (k < 3 ? 6 : 12))) return false;
  return true;
}

double largest_difference(const ComplexMatrix& a, const ComplexMatrix& b) {
  double largest = 0;
  for (std::size_t k = 0; k < a.elements.size(); ++k)
    largest = std::max(
        {largest, std::fabs(a.elements[k].re - b.elements[k].re), std::fabs(a.elements[k].im - b.elements[k].im)});
  return largest;
}

// Eight vectors, of which the fourth is composed of two before it and the sixth is zero: G = rho^dagger rho, y = q rho,
// and q is orthonormal where vectors are kept.
bool cholesky_factors_reveal_the_rank() {
  constexpr int m = 20, n = 8, composed = 3, zero = 5;
  ComplexMatrix y(m, n);
  RandomStream random = test_stream(77);
  for (auto& element : y.elements) element = complex_gaussian(random);
  for (int i = 0; i < m; ++i) {
    y(i, composed) = y(i, 0) * Complex<double>{2, -1} + y(i, 2) * Complex<double>{0.5, 3};
    y(i, zero) = {0, 0};
  }
  const ComplexMatrix gram = product(adjoint(y), y);
  const BlockFactor f = block_cholesky(gram, 1e-10);
  for (int j = 0; j < n; ++j)
    if (!CHECK(f.kept[std::size_t(j)] == (j != composed && j != zero))) return false;
  const ComplexMatrix q = product(y, f.inverse), unit = product(adjoint(q), q);
  ComplexMatrix expected(n, n);
  for (int j = 0; j < n; ++j) {
    if (f.kept[std::size_t(j)]) expected(j, j) = {1, 0};
    if (!CHECK(f.rho(j, j).re >= 0) || !CHECK(f.rho(j, j).im == 0)) return false;
    for (int i = j + 1; i < n; ++i)
      if (!CHECK(f.rho(i, j).re == 0) || !CHECK(f.rho(i, j).im == 0)) return false;
  }
  const double of_gram = largest_difference(product(adjoint(f.rho), f.rho), gram),
               of_y = largest_difference(product(q, f.rho), y), of_q = largest_difference(unit, expected),
               of_inverse = largest_difference(product(f.inverse, f.rho), [&] {
                 ComplexMatrix one = expected;  // and how the composed vector is made of the kept ones
                 one(0, composed) = {2, -1};
                 one(2, composed) = {0.5, 3};
                 return one;
               }());
  std::printf("rank %d, deviations %.1e %.1e %.1e %.1e\n", f.rank, of_gram, of_y, of_q, of_inverse);
  return CHECK(f.rank == n - 2) && CHECK(of_gram < 1e-12) && CHECK(of_y < 1e-12) && CHECK(of_q < 1e-12) &&
         CHECK(of_inverse < 1e-12) && CHECK(f.smallest_pivot > 0.1) && CHECK(f.smallest_pivot <= 1);
}

bool inverse_of_a_positive_matrix_undoes_it() {
  constexpr int n = 6;
  ComplexMatrix y(2 * n, n);
  RandomStream random = test_stream(78);
  for (auto& element : y.elements) element = complex_gaussian(random);
  const ComplexMatrix gram = product(adjoint(y), y);
  const double deviation =
      largest_difference(product(gram, positive_inverse(block_cholesky(gram, 1e-10))), identity(n));
  std::printf("deviation %.1e\n", deviation);
  return CHECK(deviation < 1e-12);
}

// Numbers that are not finite drop their vector, and do not reach the others.
bool cholesky_drops_what_is_not_finite() {
  ComplexMatrix gram = identity(3);
  gram(1, 1) = {std::numeric_limits<double>::quiet_NaN(), 0};
  const BlockFactor f = block_cholesky(gram, 1e-10);
  return CHECK(f.rank == 2) && CHECK(!f.kept[1]) && CHECK(f.rho(2, 2).re == 1) && CHECK(f.inverse(0, 0).re == 1);
}

}  // namespace

std::vector<UnitCheck> su3_checks() {
  return {
      UNIT_CHECK(projected_matrices_are_in_su3),          UNIT_CHECK(heatbath_draws_have_the_exact_mean),
      UNIT_CHECK(overrelaxation_keeps_the_action),        UNIT_CHECK(eight_reals_hold_any_link),
      UNIT_CHECK(naik_forms_hold_any_link_of_u3),         UNIT_CHECK(cholesky_factors_reveal_the_rank),
      UNIT_CHECK(inverse_of_a_positive_matrix_undoes_it), UNIT_CHECK(cholesky_drops_what_is_not_finite),
  };
}

}  // namespace staghorn
