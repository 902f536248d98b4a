// D at one site, written once more for a GPU: one thread a colour of a site, no tuning. Host and device.
//
// This is the text of the certificate on a GPU (cuda_plain_operator.cu), and the host's plain operator is its judge:
// both add the same terms in the same order, so they have the same bits. It reads plain fields, fp64 and uncompressed,
// in lexicographic order, and shares nothing with the kernels but the arithmetic of dirac/algebra/su3.hpp.
//
// D a(x) = sum over legs (mu, s, V, w) of w eta_mu(x) [ V(x) a(x + s mu) - V(x - s mu)^dagger a(x - s mu) ]
//
// The three threads of a site read rows of V(x) and columns of V(x - s mu), in words of 16 bytes, side by side.
#pragma once

#include <cstdint>

#include "dirac/algebra/su3_matrix.hpp"
#include "dirac/fields/plain_number.hpp"

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

// Sites of a slice across mu.
STAGHORN_INLINE std::int64_t plain_slice_sites(const PlainHop& hop, int mu) {
  std::int64_t sites = 1;
  for (int nu = 0; nu < 4; ++nu) sites *= nu == mu ? 1 : hop.local[nu];
  return sites;
}

// Where faces have what a hop along `leg` from this site reads, in slice number `slice` of them.
STAGHORN_INLINE std::int64_t plain_face_index(const PlainHop& hop, int mu, std::int64_t site, int slice) {
  const std::int64_t stride = plain_stride(hop, mu);
  return slice * plain_slice_sites(hop, mu) + site / (stride * hop.local[mu]) * stride + site % stride;
}

// Colour i of V a.
STAGHORN_INLINE Complex<double> plain_forward(const ColorMatrix<double>& v, const ColorVector<double>& a, int i) {
  Complex<double> sum{};
  for (int j = 0; j < 3; ++j) sum = multiply_add(plain_number(v.e[i][j]), plain_number(a.c[j]), sum);
  return sum;
}

// Colour i of -V(y)^dagger a(y).
STAGHORN_INLINE Complex<double> plain_backward(const PlainHop& hop, const PlainLeg& leg, std::int64_t y, int i) {
  const ColorMatrix<double>& v = leg.links[y * leg.link_stride];
  Complex<double> sum{};
  for (int j = 0; j < 3; ++j)
    sum = conjugate_multiply_subtract(plain_number(v.e[j][i]), plain_number(hop.in[y].c[j]), sum);
  return sum;
}

// factor v, or factor phase v where the hop crosses the boundary
STAGHORN_INLINE Complex<double> plain_term(double factor, bool crosses, const Complex<double>& phase,
                                           const Complex<double>& v) {
  return factor * (crosses ? phase * v : v);
}

// Colour i of D a(x) at the site with this index.
STAGHORN_INLINE Complex<double> plain_hop_at(const PlainHop& hop, std::uint32_t site, int i) {
  int x[4];
  plain_coordinates(hop, site, x);
  Complex<double> sum{};
  for (int l = 0; l < hop.n_legs; ++l) {
    const PlainLeg& leg = hop.legs[l];
    const int mu = leg.mu, extent = hop.local[mu], x_mu = x[mu], global_x_mu = hop.origin[mu] + x_mu;
    const std::int64_t stride = plain_stride(hop, mu);
    int exponent = 0;
    for (int nu = 0; nu < mu; ++nu) exponent += hop.origin[nu] + x[nu];
    const double factor = exponent & 1 ? -leg.weight : leg.weight;
    const Complex<double> phase = hop.crossing_phase[mu];

    const int beyond = x_mu + leg.steps - extent;  // V(x) a(x + s mu), beyond this rank where >= 0
    const ColorVector<double>& ahead = beyond >= 0 && leg.ahead
                                           ? leg.ahead[plain_face_index(hop, mu, site, beyond)]
                                           : hop.in[site + stride * (beyond >= 0 ? leg.steps - extent : leg.steps)];
    const Complex<double> forward = plain_forward(leg.links[std::int64_t{site} * leg.link_stride], ahead, i);
    sum = sum + plain_term(factor, global_x_mu + leg.steps >= hop.global[mu], phase, forward);

    const int before = x_mu - leg.steps;  // -V(x - s mu)^dagger a(x - s mu), before this rank where < 0
    const Complex<double> backward =
        before < 0 && leg.behind
            ? plain_number(leg.behind[plain_face_index(hop, mu, site, before + leg.steps)].c[i])
            : plain_backward(hop, leg, site + stride * (before < 0 ? extent - leg.steps : -leg.steps), i);
    sum = sum + plain_term(factor, global_x_mu - leg.steps < 0, conjugate(phase), backward);
  }
  return sum;
}

// b - alpha x - beta D a, of one colour of a site
STAGHORN_INLINE Complex<double> plain_residual_at(const Complex<double>& b, double alpha, const Complex<double>& x,
                                                  double beta, const Complex<double>& d) {
  return b - alpha * x - beta * d;
}

// Site k of a face of `leg`, in the order of PlainLeg::ahead and behind: slice by slice, lexicographic without mu.
STAGHORN_INLINE std::int64_t plain_face_site(const PlainHop& hop, const PlainLeg& leg, bool last_slices,
                                             std::int64_t k) {
  const int extent = hop.local[leg.mu];
  const std::int64_t stride = plain_stride(hop, leg.mu), slice_sites = plain_slice_sites(hop, leg.mu);
  const std::int64_t x_mu = k / slice_sites + (last_slices ? extent - leg.steps : 0), i = k % slice_sites;
  return (i / stride * extent + x_mu) * stride + i % stride;
}

}  // namespace staghorn
