// D at one site, written once more for a GPU: one thread a site, no tuning. Host and device.
//
// This is the text of the certificate on a GPU (cuda_plain_operator.cu), and the host's plain operator is its judge:
// both add the same terms in the same order, so they have the same bits. It reads plain fields, fp64 and uncompressed,
// in lexicographic order, and shares nothing with the kernels but the arithmetic of dirac/algebra/su3.hpp.
//
// D a(x) = sum over legs (mu, s, V, w) of w eta_mu(x) [ V(x) a(x + s mu) - V(x - s mu)^dagger a(x - s mu) ]
#pragma once

#include <cstdint>

#include "dirac/algebra/su3_matrix.hpp"

namespace staghorn {

// Hops of `steps` sites along mu, forward and backward. The faces hold what other ranks have, `steps` slices each, and
// are null where mu is not cut: `ahead` a(x) of the first slices of the next rank, `behind` -V(x)^dagger a(x) of the
// last slices of the rank before, multiplied there.
struct PlainLeg {
  int mu = 0, steps = 1;
  double weight = 1;                           // w: the coefficient of Naik links
  const ColorMatrix<double>* links = nullptr;  // V of site 0; that of site x is `link_stride` x further on
  int link_stride = 4;
  const ColorVector<double>*ahead = nullptr, *behind = nullptr;
};

struct PlainHop {
  static constexpr int max_legs = 8;
  int n_legs = 0;
  PlainLeg legs[max_legs];             // in the order in which terms are added
  int local[4], origin[4], global[4];  // extents of this rank, its place, extents of the whole lattice
  Complex<double> crossing_phase[4];   // of a hop in +mu that leaves the global lattice
  const ColorVector<double>* in = nullptr;
};

// The coordinates on this rank of a site index, x fastest.
STAGHORN_INLINE void plain_coordinates(const PlainHop& hop, std::uint32_t site, int (&x)[4]) {
  for (int mu = 0; mu < 4; ++mu) {
    x[mu] = int(site % std::uint32_t(hop.local[mu]));
    site /= std::uint32_t(hop.local[mu]);
  }
}

// The index distance of two sites that are neighbours along mu.
STAGHORN_INLINE std::int64_t plain_stride(const PlainHop& hop, int mu) {
  std::int64_t stride = 1;
  for (int nu = 0; nu < mu; ++nu) stride *= hop.local[nu];
  return stride;
}

// -V(y)^dagger a(y)
STAGHORN_INLINE ColorVector<double> plain_backward(const PlainHop& hop, const PlainLeg& leg, std::int64_t y) {
  ColorVector<double> v{};
  adjoint_multiply_subtract(v, leg.links[y * leg.link_stride], hop.in[y]);
  return v;
}

// sum += factor v, or factor phase v where the hop crosses the boundary
STAGHORN_INLINE void plain_add(ColorVector<double>& sum, double factor, bool crosses, const Complex<double>& phase,
                               const ColorVector<double>& v) {
  for (int i = 0; i < 3; ++i) sum.c[i] = sum.c[i] + factor * (crosses ? phase * v.c[i] : v.c[i]);
}

// D a(x) at the site with this index.
STAGHORN_INLINE ColorVector<double> plain_hop_at(const PlainHop& hop, std::uint32_t site) {
  int x[4];
  plain_coordinates(hop, site, x);
  ColorVector<double> sum{};
  for (int l = 0; l < hop.n_legs; ++l) {
    const PlainLeg& leg = hop.legs[l];
    const int mu = leg.mu, extent = hop.local[mu], x_mu = x[mu], global_x_mu = hop.origin[mu] + x_mu;
    const std::int64_t stride = plain_stride(hop, mu), slice = site / (stride * extent) * stride + site % stride;
    const std::int64_t slice_sites = std::int64_t{hop.local[0]} * hop.local[1] * hop.local[2] * hop.local[3] / extent;
    int exponent = 0;
    for (int nu = 0; nu < mu; ++nu) exponent += hop.origin[nu] + x[nu];
    const double factor = exponent & 1 ? -leg.weight : leg.weight;
    const Complex<double> phase = hop.crossing_phase[mu];

    const int beyond = x_mu + leg.steps - extent;  // V(x) a(x + s mu), beyond this rank where >= 0
    ColorVector<double> forward{};
    if (beyond >= 0 && leg.ahead)
      multiply_add(forward, leg.links[std::int64_t{site} * leg.link_stride], leg.ahead[beyond * slice_sites + slice]);
    else
      multiply_add(forward, leg.links[std::int64_t{site} * leg.link_stride],
                   hop.in[site + stride * (beyond >= 0 ? leg.steps - extent : leg.steps)]);
    plain_add(sum, factor, global_x_mu + leg.steps >= hop.global[mu], phase, forward);

    const int before = x_mu - leg.steps;  // -V(x - s mu)^dagger a(x - s mu), before this rank where < 0
    ColorVector<double> backward;
    if (before < 0 && leg.behind)
      backward = leg.behind[(before + leg.steps) * slice_sites + slice];
    else
      backward = plain_backward(hop, leg, site + stride * (before < 0 ? extent - leg.steps : -leg.steps));
    plain_add(sum, factor, global_x_mu - leg.steps < 0, conjugate(phase), backward);
  }
  return sum;
}

// b - alpha x - beta D a, of one site
STAGHORN_INLINE ColorVector<double> plain_residual_at(const ColorVector<double>& b, double alpha,
                                                      const ColorVector<double>& x, double beta,
                                                      const ColorVector<double>& d) {
  ColorVector<double> r;
  for (int i = 0; i < 3; ++i) r.c[i] = b.c[i] - alpha * x.c[i] - beta * d.c[i];
  return r;
}

// Site k of a face of `leg`, in the order of PlainLeg::ahead and behind: slice by slice, lexicographic without mu.
STAGHORN_INLINE std::int64_t plain_face_site(const PlainHop& hop, const PlainLeg& leg, bool last_slices,
                                             std::int64_t k) {
  const int extent = hop.local[leg.mu];
  const std::int64_t stride = plain_stride(hop, leg.mu);
  const std::int64_t slice_sites = std::int64_t{hop.local[0]} * hop.local[1] * hop.local[2] * hop.local[3] / extent;
  const std::int64_t x_mu = k / slice_sites + (last_slices ? extent - leg.steps : 0), i = k % slice_sites;
  return (i / stride * extent + x_mu) * stride + i % stride;
}

}  // namespace staghorn
