// SU(3) matrices and what the heatbath does with their SU(2) subgroups.
#include <algorithm>
#include <cmath>
#include <cstdio>

#include "dirac/su2_subgroup.hpp"
#include "dirac/su3_matrix.hpp"
#include "tests/unit/unit_checks.hpp"

namespace staghorn {

namespace {

ColorMatrix<double> random_matrix(RandomStream& random) {
  ColorMatrix<double> m;
  for (auto& row : m.e)
    for (auto& element : row) element = complex_gaussian(random);
  return m;
}

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
  return worst < 1e-13;
}

// <h0> = I2(alpha) / I1(alpha) and no preferred direction; both ways of drawing, within five standard errors.
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
      if (real_trace_adjoint(u, old) > 3 - 1e-6) return false;
    }
    worst = std::max(worst, std::fabs(real_trace_adjoint(u, path) - before));
  }
  std::printf("worst change of Re tr(U V^dagger): %.2e\n", worst);
  return worst < 1e-13;
}

}  // namespace

std::vector<UnitCheck> su3_checks() {
  return {
      {"projected_matrices_are_in_su3", projected_matrices_are_in_su3},
      {"heatbath_draws_have_the_exact_mean", heatbath_draws_have_the_exact_mean},
      {"overrelaxation_keeps_the_action", overrelaxation_keeps_the_action},
  };
}

}  // namespace staghorn
