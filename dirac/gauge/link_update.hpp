// What a Monte Carlo chain does to one link: a random start, the heatbath, over-relaxation. CPU and GPU share this
// text. It uses + - * / sqrt, fma and integers only, so both give the same bits.
//
// `path` is the sum of the paths from x to x+mu around the link's six plaquettes (plaquette_paths.hpp); with
// W = U path^dagger the action is -beta/3 Re tr W, plus terms without the link.
#pragma once

#include "dirac/algebra/philox.hpp"
#include "dirac/algebra/su3_matrix.hpp"
#include "dirac/gauge/su2_subgroup.hpp"

namespace staghorn {

// A random element of SU(3), uniform in the Haar measure: Gram-Schmidt of rows with a rotation-invariant distribution.
// `site` is the global site index.
STAGHORN_INLINE ColorMatrix<double> random_link(std::uint64_t seed, std::uint64_t site, int mu) {
  RandomStream random(seed, RandomPurpose::hot_start, 0, site, std::uint32_t(mu));
  ColorMatrix<double> u;
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) u.e[i][j] = complex_gaussian(random);
  project_su3(u);
  return u;
}

// One heatbath step by the three SU(2) subgroups: g with h = g v distributed as exp(beta k h0 / 3).
STAGHORN_INLINE void heatbath_link(ColorMatrix<double>& u, const ColorMatrix<double>& path, double beta,
                                   std::uint64_t seed, std::uint32_t sweep, std::uint64_t site, int mu) {
  ColorMatrix<double> w = u * adjoint(path);
  STAGHORN_UNROLL
  for (int s = 0; s < 3; ++s) {
    RandomStream random(seed, RandomPurpose::heatbath, sweep, site, std::uint32_t(3 * mu + s));
    double k;
    const Su2 v = project_block(w, su3_subgroup(s), k);
    const Su2 g = random_su2(beta / 3 * k, random) * adjoint(v);
    multiply_rows(u, su3_subgroup(s), g);
    multiply_rows(w, su3_subgroup(s), g);
  }
}

// One microcanonical step. g = v^dagger v^dagger: h = v^dagger has the h0 of v, so the action stays while the link
// moves as far as it can.
STAGHORN_INLINE void overrelax_link(ColorMatrix<double>& u, const ColorMatrix<double>& path) {
  ColorMatrix<double> w = u * adjoint(path);
  STAGHORN_UNROLL
  for (int s = 0; s < 3; ++s) {
    double k;
    const Su2 v = project_block(w, su3_subgroup(s), k);
    const Su2 g = adjoint(v * v);
    multiply_rows(u, su3_subgroup(s), g);
    multiply_rows(w, su3_subgroup(s), g);
  }
}

}  // namespace staghorn
