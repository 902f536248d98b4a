// Where the numbers of a host's fields lie, and which signs they carry: plain data, the same text for host and device.
#pragma once

#include <array>

#include "dirac/algebra/su3_matrix.hpp"
#include "dirac/gauge/link_phases.hpp"
#include "solver/interface/layouts/site_order.hpp"

namespace staghorn {

// Bytes from the start of a buffer of vectors to the site x, in local coordinates. Made by places_of.
struct VectorPlaces {
  SiteOrder order;
  bool half;
  Extents local;
  std::int64_t stride;

  constexpr std::int64_t of(const Coordinates& x) const {
    return (half ? half_vector_site(order, local, x) : vector_site(order, local, x)) * stride;
  }
};

// How a host's vector differs from ours at a site: host(x) = at(x) ours(x). `found`: see VectorSigns.
struct SiteSigns {
  LinkPhases phases;
  const signed char* found;
  bool alternating;
  double factor;

  // `site`: lexicographic local index; `x`: global coordinates.
  constexpr double at(std::int64_t site, const Coordinates& x) const {
    int sign = phase_change(phases, x);
    if (found) sign *= found[site];
    if (alternating && parity_number(x) == 1) sign = -sign;
    return sign * factor;
  }
};

// Links of a host, x in local coordinates but where it says global. Made by view_of.
struct LinkView {
  SiteOrder order;
  Extents local, global;
  std::int64_t stride, offset, link_bytes;
  LinkPhases phases;
  std::array<bool, 4> negative;  // where the link crosses the boundary of the direction
  int steps;                     // sites that a link leads over
  bool transposed, adjoint;

  constexpr int buffer(int mu) const { return order == SiteOrder::qdp ? mu : 0; }
  // Bytes from the start of that buffer to U_mu(x).
  constexpr std::int64_t place(int mu, const Coordinates& x) const {
    const std::int64_t site = link_site(order, local, x);
    if (order == SiteOrder::cps_stag_block) return offset + (volume(local) * mu + site) * stride;
    return site * stride + offset + (by_direction(order) ? 0 : mu * link_bytes);
  }
  // The sign that the host multiplies into U_mu(x), x global. A boundary phase that is no sign is not looked at.
  constexpr double sign(int mu, const Coordinates& x) const {
    const double sign = link_phase(phases, mu, x);
    const int crossings = (x[std::size_t(mu)] + steps) / global[std::size_t(mu)];
    return negative[std::size_t(mu)] && crossings % 2 == 1 ? -sign : sign;
  }
  // What the host does to a link before it stores it, and takes back: its own inverse.
  STAGHORN_INLINE ColorMatrix<double> turned(const ColorMatrix<double>& u) const {
    ColorMatrix<double> result;
    const bool turn = transposed != adjoint;
    STAGHORN_UNROLL
    for (int i = 0; i < 3; ++i) STAGHORN_UNROLL
    for (int j = 0; j < 3; ++j) {
      const Complex<double>& e = turn ? u.e[j][i] : u.e[i][j];
      result.e[i][j] = adjoint ? conjugate(e) : e;
    }
    return result;
  }
};

STAGHORN_INLINE void multiply(ColorMatrix<double>& u, double factor) {
  STAGHORN_UNROLL
  for (int i = 0; i < 3; ++i) STAGHORN_UNROLL
  for (int j = 0; j < 3; ++j) u.e[i][j] = {factor * u.e[i][j].re, factor * u.e[i][j].im};
}

}  // namespace staghorn
