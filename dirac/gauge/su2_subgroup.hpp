// The SU(2) subgroups of SU(3) [Cabibbo & Marinari 1982]: updates of a link one subgroup at a time.
//
// An element of SU(2) is four reals, h = h0 + i (h1, h2, h3) . sigma. Let W = U V^dagger, where V is the sum of the
// paths around the link's plaquettes. If g in SU(2) multiplies rows (i, j) of U, the action changes through
// Re tr(g w) = k h0. Here the 2x2 block w of W is k/2 times v in SU(2), plus a part that does not contribute, and
// h = g v.
#pragma once

#include <cmath>

#include "dirac/algebra/elementary.hpp"
#include "dirac/algebra/philox.hpp"
#include "dirac/algebra/su3_matrix.hpp"

namespace staghorn {

struct Su2 {
  double h[4];
};

// a b: (a0 b0 - a.b, a0 b + b0 a - a x b)
STAGHORN_INLINE Su2 operator*(const Su2& a, const Su2& b) {
  const double(&p)[4] = a.h;
  const double(&q)[4] = b.h;
  Su2 c;
  c.h[0] = multiply_add(p[0], q[0], -multiply_add(p[1], q[1], multiply_add(p[2], q[2], p[3] * q[3])));
  for (int i = 1; i < 4; ++i) {
    const int j = i % 3 + 1, k = j % 3 + 1;
    const double cross = multiply_add(p[j], q[k], -(p[k] * q[j]));
    c.h[i] = multiply_add(p[0], q[i], multiply_add(q[0], p[i], -cross));
  }
  return c;
}

STAGHORN_INLINE Su2 adjoint(const Su2& a) { return {{a.h[0], -a.h[1], -a.h[2], -a.h[3]}}; }

// Rows (and columns) of a subgroup.
struct Subgroup {
  int i, j;
};

// The three subgroups: rows (0, 1), (0, 2), (1, 2).
STAGHORN_INLINE constexpr Subgroup su3_subgroup(int s) { return {s == 2 ? 1 : 0, s == 0 ? 1 : 2}; }

// The SU(2) part of a block of W: returns v and sets k, or returns 1 and k = 0 where the block has none.
STAGHORN_INLINE Su2 project_block(const ColorMatrix<double>& w, const Subgroup& s, double& k) {
  const Complex<double> ii = w.e[s.i][s.i], ij = w.e[s.i][s.j], ji = w.e[s.j][s.i], jj = w.e[s.j][s.j];
  Su2 v{{ii.re + jj.re, ij.im + ji.im, ij.re - ji.re, ii.im - jj.im}};
  k = std::sqrt(
      multiply_add(v.h[0], v.h[0], multiply_add(v.h[1], v.h[1], multiply_add(v.h[2], v.h[2], v.h[3] * v.h[3]))));
  if (!(k > 0)) return {{1, 0, 0, 0}};
  for (double& component : v.h) component /= k;
  return v;
}

// Rows i and j of m become g times these rows.
STAGHORN_INLINE void multiply_rows(ColorMatrix<double>& m, const Subgroup& s, const Su2& g) {
  const Complex<double> ii{g.h[0], g.h[3]}, ij{g.h[2], g.h[1]}, ji{-g.h[2], g.h[1]}, jj{g.h[0], -g.h[3]};
  for (int c = 0; c < 3; ++c) {
    const Complex<double> upper = m.e[s.i][c], lower = m.e[s.j][c];
    m.e[s.i][c] = multiply_add(ij, lower, ii * upper);
    m.e[s.j][c] = multiply_add(jj, lower, ji * upper);
  }
}

// A random h with density exp(alpha h0) in the Haar measure, that is sqrt(1 - h0^2) exp(alpha h0) in h0 and uniform in
// the direction of (h1, h2, h3).
//
// alpha >= 1/2: Kennedy & Pendleton, Phys. Lett. 156B (1985) 393. 1 - h0 is drawn from the Gamma distribution of order
// 3/2,
// -(log R1 + C log R2) / alpha with C the squared cosine of a random angle, and accepted with sqrt(1 - (1 - h0) / 2).
// Below, where that rejects too often: a random element of SU(2) [Marsaglia 1972], accepted with exp(alpha (h0 - 1)).
STAGHORN_INLINE Su2 random_su2(double alpha, RandomStream& random) {
  double u, v;
  if (alpha < 0.5) {
    while (true) {
      Su2 h;
      const double s = random.point_in_disc(h.h[0], h.h[1]);
      const double s2 = random.point_in_disc(u, v);
      const double scale = std::sqrt((1 - s) / s2);
      h.h[2] = u * scale;
      h.h[3] = v * scale;
      if (portable_log(random.uniform()) <= alpha * (h.h[0] - 1)) return h;
    }
  }
  double delta, accept;
  do {
    const double s = random.point_in_disc(u, v);
    const double cosine2 = u * u / s;
    // One draw a line: the order in which arguments are evaluated is the compiler's choice.
    const double log1 = portable_log(random.uniform());
    const double log2 = portable_log(random.uniform());
    delta = -multiply_add(cosine2, log2, log1) / alpha;
    accept = random.uniform();
  } while (accept * accept > 1 - 0.5 * delta);
  const double radius = std::sqrt(delta * (2 - delta));  // sqrt(1 - h0^2)
  const double s = random.point_in_disc(u, v);
  const double scale = 2 * radius * std::sqrt(1 - s);
  return {{1 - delta, u * scale, v * scale, radius * (1 - 2 * s)}};
}

}  // namespace staghorn
