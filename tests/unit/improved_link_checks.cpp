// Links of improved quarks: the projection onto U(3), and what smearing must keep.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>

#include "dirac/gauge/unitary_projection.hpp"
#include "tests/unit/unit_checks.hpp"

namespace staghorn {

namespace {

using Matrix = ColorMatrix<double>;

double distance(const Matrix& a, const Matrix& b) {
  double sum = 0;
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) sum = add_norm2(a.e[i][j] - b.e[i][j], sum);
  return std::sqrt(sum);
}

double unitarity(const Matrix& w) { return distance(adjoint(w) * w, identity_matrix<double>()); }

// u diag(s) v^dagger, and u v^dagger, for random unitary u, v.
struct Known {
  Matrix matrix, unitary;
};

Known matrix_of(const double (&s)[3], std::uint64_t seed) {
  RandomStream random = test_stream(seed);
  const Matrix u = project_unitary(random_matrix(random)).unitary, v = project_unitary(random_matrix(random)).unitary;
  Matrix scaled = u;
  for (int i = 0; i < 3; ++i)
    for (int k = 0; k < 3; ++k) scaled.e[i][k] = s[k] * u.e[i][k];
  return {scaled * adjoint(v), u * adjoint(v)};
}

// The error that the conditioning allows is 2 eps / s for the smallest singular value s, relative to the largest; well
// conditioned, and degenerate, it is a few roundings.
bool projection_is_the_nearest_unitary_matrix() {
  struct Case {
    double s[3], bound;
  };
  constexpr double eps = std::numeric_limits<double>::epsilon();
  const Case cases[] = {{{1.3, 1, 0.7}, 2e-15},
                        {{1, 1, 1}, 2e-15},
                        {{1, 1, 0.7}, 2e-15},
                        {{1, 1 + 1e-8, 0.7}, 2e-15},
                        {{1, 0.5, 1e-2}, 2 * eps / 1e-2},
                        {{1, 0.5, 1e-4}, 2 * eps / 1e-4},
                        {{1, 0.5, 1e-8}, 2 * eps / 1e-8},
                        {{1, 0.5, 1e-12}, 2 * eps / 1e-12},
                        {{1, 1e-6, 1e-6}, 1e-7},
                        {{1e-3, 1e-3, 1e-3}, 2e-15},
                        {{1e40, 0.5e40, 0.2e40}, 1e-14}};
  bool holds = true;
  for (const Case& c : cases) {
    double error = 0, not_unitary = 0, of_smallest = 0;
    for (int i = 0; i < 200; ++i) {
      const Known known = matrix_of(c.s, i);
      const UnitaryProjection p = project_unitary(known.matrix);
      error = std::max(error, distance(p.unitary, known.unitary));
      not_unitary = std::max(not_unitary, unitarity(p.unitary));
      const double smallest = std::min({c.s[0], c.s[1], c.s[2]}), largest = std::max({c.s[0], c.s[1], c.s[2]});
      of_smallest = std::max(of_smallest, std::fabs(p.singular[2] - smallest) / largest);
    }
    std::printf("s = %g %g %g: error %.1e, W^+ W - 1 %.1e, smallest singular value off by %.1e of the largest\n",
                c.s[0], c.s[1], c.s[2], error, not_unitary, of_smallest);
    holds = CHECK(error < c.bound) && CHECK(not_unitary < 2e-15) && CHECK(of_smallest < 4e-15) && holds;
  }
  return holds;
}

// V -> g V h^dagger takes W to g W h^dagger, and a unitary V is its own projection.
bool projection_is_covariant() {
  double turned = 0, kept = 0;
  for (int i = 0; i < 1000; ++i) {
    RandomStream random = test_stream(i);
    Matrix v = identity_matrix<double>();
    const Matrix noise = random_matrix(random);
    for (int a = 0; a < 3; ++a)
      for (int b = 0; b < 3; ++b) v.e[a][b] = v.e[a][b] + 0.2 * noise.e[a][b];
    const Matrix g = project_unitary(random_matrix(random)).unitary, h = project_unitary(random_matrix(random)).unitary;
    const Matrix expected = g * project_unitary(v).unitary * adjoint(h);
    turned = std::max(turned, distance(project_unitary(g * v * adjoint(h)).unitary, expected));
    kept = std::max(kept, distance(project_unitary(g).unitary, g));
  }
  std::printf("gauge-turned %.1e, unitary kept to %.1e\n", turned, kept);
  return CHECK(turned < 5e-14) && CHECK(kept < 2e-15);
}

bool singular_matrices_are_seen() {
  Matrix zero{}, two_rows = identity_matrix<double>(), not_finite = two_rows;
  two_rows.e[2][2].re = 0;
  not_finite.e[1][0].re = NAN;
  const double found[] = {project_unitary(zero).singular[2], project_unitary(two_rows).singular[2],
                          project_unitary(not_finite).singular[2]};
  std::printf("smallest singular values of 0, of rank two, of NaN: %g %g %g\n", found[0], found[1], found[2]);
  return CHECK(found[0] == 0) && CHECK(found[1] == 0) && CHECK(found[2] == 0);
}

bool su3_projection_has_the_nearest_determinant_root() {
  double det_off = 0, unitary_off = 0, largest_angle = 0;
  for (int i = 0; i < 1000; ++i) {
    RandomStream random = test_stream(i);
    const Matrix w = project_unitary(random_matrix(random)).unitary, u = without_determinant_phase(w);
    const Complex<double> d = determinant(u), z = cube_root_of_phase(determinant(w));
    det_off = std::max(det_off, std::hypot(d.re - 1, d.im));
    unitary_off = std::max(unitary_off, unitarity(u));
    largest_angle = std::max(largest_angle, std::fabs(std::atan2(z.im, z.re)));
  }
  const Complex<double> of_minus_one = cube_root_of_phase({-1, 0});
  std::printf("det - 1: %.1e, U^+ U - 1: %.1e, largest angle / (pi / 3): %.6f, root of -1: %.6f %+.6f i\n", det_off,
              unitary_off, largest_angle / (M_PI / 3), of_minus_one.re, of_minus_one.im);
  return CHECK(det_off < 4e-15) && CHECK(unitary_off < 4e-15) && CHECK(largest_angle <= M_PI / 3 + 1e-15) &&
         CHECK(of_minus_one.re > 0.4999);
}

}  // namespace

std::vector<UnitCheck> improved_link_checks() {
  return {
      UNIT_CHECK(projection_is_the_nearest_unitary_matrix),
      UNIT_CHECK(projection_is_covariant),
      UNIT_CHECK(singular_matrices_are_seen),
      UNIT_CHECK(su3_projection_has_the_nearest_determinant_root),
  };
}

}  // namespace staghorn
