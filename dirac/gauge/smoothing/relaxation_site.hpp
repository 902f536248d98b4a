// What gauge fixing does at one site. Host and device; + - * / sqrt and fma alone.
#pragma once

#include "dirac/gauge/plaquette_paths.hpp"
#include "dirac/gauge/smoothing/su3_algebra.hpp"
#include "dirac/gauge/su2_subgroup.hpp"

namespace staghorn {

// w += U_mu(x) + U_mu(x-mu)^dagger: with g(x) the links of x have Re tr(g w).
STAGHORN_INLINE void add_links_of_site(ColorMatrix<double>& w, const ColorMatrix<double>& here,
                                       const ColorMatrix<double>& behind) {
  add_path(w, here);
  add_path(w, adjoint(behind));
}

// g for a site, by the three SU(2) subgroups one after the other. About 700 flop.
STAGHORN_INLINE ColorMatrix<double> relaxation_at(ColorMatrix<double> w, double relaxation) {
  ColorMatrix<double> g = identity_matrix<double>();
  STAGHORN_UNROLL
  for (int s = 0; s < 3; ++s) {
    double k;
    const Su2 best = adjoint(project_block(w, su3_subgroup(s), k));
    Su2 h;
    for (int i = 0; i < 4; ++i) h.h[i] = relaxation * best.h[i];
    h.h[0] += 1 - relaxation;
    const double length2 =
        multiply_add(h.h[0], h.h[0], multiply_add(h.h[1], h.h[1], multiply_add(h.h[2], h.h[2], h.h[3] * h.h[3])));
    const double length = std::sqrt(length2);
    if (length > 0)
      for (double& component : h.h) component /= length;
    else
      h = best;
    multiply_rows(g, su3_subgroup(s), h);
    multiply_rows(w, su3_subgroup(s), h);
  }
  return g;
}

// tr Delta^2 of a site: Delta is P[w] / i.
STAGHORN_INLINE double site_theta(const ColorMatrix<double>& w) {
  const AntiHermitian delta = algebra_part(w);
  return scalar_product(delta, delta);
}

}  // namespace staghorn
