// What happens at a site when mesons are contracted on a GPU (cuda_meson_sums.cu). Host and device.
//
// The host has a text of its own (covariant_shift.cpp, spin_taste_shifts.cpp, meson_sums.cpp) and is the judge: both
// add the same terms in the same order, so they have the same bits.
#pragma once

#include <cstdint>

#include "dirac/operators/plain_site.hpp"

namespace staghorn {

// Where this rank lies, and the place from which signs are counted.
struct MesonGeometry {
  int local[4], origin[4], source[4];
};

// Colour i of (1/2) eta_mu(x) [U_mu(x) f(x+mu) + U_mu(x-mu)^dagger f(x-mu)], for a hop of one leg of one step, f its
// `in`.
STAGHORN_INLINE Complex<double> symmetric_shift_at(const PlainHop& hop, std::uint32_t site, int i) {
  int x[4];
  plain_coordinates(hop, site, x);
  const PlainLeg& leg = hop.legs[0];
  const int mu = leg.mu, extent = hop.local[mu], x_mu = x[mu], global_x_mu = hop.origin[mu] + x_mu;
  const std::int64_t stride = plain_stride(hop, mu);
  int exponent = 0;
  for (int nu = 0; nu < mu; ++nu) exponent += hop.origin[nu] + x[nu];
  const Complex<double> phase = hop.crossing_phase[mu];

  const bool beyond = x_mu == extent - 1, before = x_mu == 0;
  const ColorVector<double>& ahead = beyond && leg.ahead ? leg.ahead[plain_face_index(hop, mu, site, 0)]
                                                         : hop.in[site + stride * (beyond ? 1 - extent : 1)];
  Complex<double> forward = plain_forward(leg.links[std::int64_t{site} * leg.link_stride], ahead, i);
  Complex<double> backward = before && leg.behind
                                 ? plain_number(leg.behind[plain_face_index(hop, mu, site, 0)].c[i])
                                 : plain_backward(hop, leg, site + stride * (before ? extent - 1 : -1), i);
  if (global_x_mu == hop.global[mu] - 1) forward = phase * forward;
  if (global_x_mu == 0) backward = conjugate(phase) * backward;
  return (exponent & 1 ? -0.5 : 0.5) * (forward - backward);
}

// Whether zeta_mu(x) = (-1)^(x_mu) (-1)^(x+y+z+t), x counted from the source, is -1.
STAGHORN_INLINE bool zeta_is_negative(const PlainHop& hop, const MesonGeometry& geometry, int mu, std::uint32_t site) {
  int x[4];
  plain_coordinates(hop, site, x);
  int exponent = geometry.origin[mu] + x[mu] - geometry.source[mu];
  for (int nu = 0; nu < 4; ++nu) exponent += geometry.origin[nu] + x[nu] - geometry.source[nu];
  return exponent & 1;
}

// Sites of one kind on a time slice: the parities of x, y, z, counted from the source, are the bits of the kind. They
// are numbered with x fastest.
struct KindSites {
  int first[3], count[3];  // local coordinates first, first + 2, ...
};
STAGHORN_INLINE KindSites sites_of_kind(const MesonGeometry& geometry, int kind) {
  KindSites sites;
  for (int i = 0; i < 3; ++i) {
    sites.first[i] = (geometry.origin[i] - geometry.source[i] + (kind >> i & 1)) & 1;
    sites.count[i] = (geometry.local[i] - sites.first[i] + 1) / 2;
  }
  return sites;
}
STAGHORN_INLINE int number_of(const KindSites& sites) { return sites.count[0] * sites.count[1] * sites.count[2]; }
// Local coordinates of the n-th.
STAGHORN_INLINE void place_of_kind(const KindSites& sites, int n, int (&x)[3]) {
  for (int i = 0; i < 3; ++i) {
    x[i] = sites.first[i] + 2 * (n % sites.count[i]);
    n /= sites.count[i];
  }
}

// a^dagger b, colours in order.
STAGHORN_INLINE Complex<double> plain_dot(const ColorVector<double>& a, const ColorVector<double>& b) {
  Complex<double> sum{0, 0};
  for (int i = 0; i < 3; ++i) sum = multiply_add(conjugate(plain_number(a.c[i])), plain_number(b.c[i]), sum);
  return sum;
}

}  // namespace staghorn
