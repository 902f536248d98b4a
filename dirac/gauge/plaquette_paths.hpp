// Wilson's plaquettes seen from one link: their traces, and the paths that lead around them from x to x+mu. The staples
// of smearing are such paths, with any matrix in place of U_mu.
// Host and device; every multiply-add an explicit fma in one order, so that all callers have the same bits.
#pragma once

#include "dirac/algebra/su3_matrix.hpp"

namespace staghorn {

// Re tr [U_mu(x) U_nu(x+mu) U_mu(x+nu)^dagger U_nu(x)^dagger]
STAGHORN_INLINE double real_trace_plaquette(const ColorMatrix<double>& mu_here, const ColorMatrix<double>& nu_ahead_mu,
                                            const ColorMatrix<double>& nu_here,
                                            const ColorMatrix<double>& mu_ahead_nu) {
  return real_trace_adjoint(mu_here * nu_ahead_mu, nu_here * mu_ahead_nu);
}

// path += U_nu(x) U_mu(x+nu) U_nu(x+mu)^dagger: around the plaquette ahead
STAGHORN_INLINE void add_path_ahead(ColorMatrix<double>& path, const ColorMatrix<double>& nu_here,
                                    const ColorMatrix<double>& mu_ahead_nu, const ColorMatrix<double>& nu_ahead_mu) {
  add_product(path, nu_here * mu_ahead_nu, adjoint(nu_ahead_mu));
}

// U_nu(y)^dagger U_mu(y) U_nu(y+mu): what the link at x = y+nu sees of the plaquette behind it
STAGHORN_INLINE ColorMatrix<double> path_behind(const ColorMatrix<double>& nu_here, const ColorMatrix<double>& mu_here,
                                                const ColorMatrix<double>& nu_ahead_mu) {
  return adjoint(nu_here) * mu_here * nu_ahead_mu;
}

// path += other
STAGHORN_INLINE void add_path(ColorMatrix<double>& path, const ColorMatrix<double>& other) {
  STAGHORN_UNROLL
  for (int i = 0; i < 3; ++i) STAGHORN_UNROLL
  for (int j = 0; j < 3; ++j) path.e[i][j] = path.e[i][j] + other.e[i][j];
}

// sum += weight m
STAGHORN_INLINE void add_scaled(ColorMatrix<double>& sum, double weight, const ColorMatrix<double>& m) {
  STAGHORN_UNROLL
  for (int i = 0; i < 3; ++i) STAGHORN_UNROLL
  for (int j = 0; j < 3; ++j)
    sum.e[i][j] = {multiply_add(weight, m.e[i][j].re, sum.e[i][j].re),
                   multiply_add(weight, m.e[i][j].im, sum.e[i][j].im)};
}

// weight m
STAGHORN_INLINE ColorMatrix<double> scaled_link(double weight, const ColorMatrix<double>& m) {
  ColorMatrix<double> result{};
  add_scaled(result, weight, m);
  return result;
}

}  // namespace staghorn
