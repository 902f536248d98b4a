// Where the sites of a local lattice lie in the fields of other codes: one formula for each order.
//
// n: local extents, all even. x: local coordinates. V: local volume. p: parity of x, which is that of the global site.
// Every function here is local and exact, and the same text for host and device but for_all_sites.
#pragma once

#include "halo/lattice.hpp"

namespace staghorn {

// The numbers are those of staghorn_order in staghorn.h.
enum class SiteOrder : int { lex = 0, cps_stag = 1, cps_wilson = 2, even_odd_x = 3, qdp = 4, cps_stag_block = 5 };

constexpr int parity_number(const Coordinates& x) { return (x[0] + x[1] + x[2] + x[3]) & 1; }

// x + Nx (y + Ny (z + Nz t)): CPS CANONICAL, and every code with plain arrays.
constexpr std::int64_t lexicographic_site(const Extents& n, const Coordinates& x) {
  return x[0] + std::int64_t{n[0]} * (x[1] + std::int64_t{n[1]} * (x[2] + std::int64_t{n[2]} * x[3]));
}

// (lex + V p) / 2, rounded down: MILC, QUDA, QDP. CPS WILSON's (lex - x % 2 + V p) / 2 is the same number, since Nx is
// even.
constexpr std::int64_t even_odd_site(const Extents& n, const Coordinates& x, int p) {
  return (lexicographic_site(n, x) + volume(n) * p) / 2;
}

// (t + Nt (x + Nx (y + Ny z)) + V p) / 2, rounded down: CPS STAG, t fastest.
constexpr std::int64_t stag_site(const Extents& n, const Coordinates& x, int p) {
  const std::int64_t t_fastest =
      x[3] + std::int64_t{n[3]} * (x[0] + std::int64_t{n[0]} * (x[1] + std::int64_t{n[1]} * x[2]));
  return (t_fastest + volume(n) * p) / 2;
}

// The place of a site in a field of vectors, in units of sites.
constexpr std::int64_t vector_site(SiteOrder order, const Extents& n, const Coordinates& x) {
  const int p = parity_number(x);
  switch (order) {
    case SiteOrder::lex:
      break;
    case SiteOrder::cps_stag:
    case SiteOrder::cps_stag_block:
      return stag_site(n, x, p);
    case SiteOrder::cps_wilson:
      return even_odd_site(n, x, 1 - p);  // odd first
    case SiteOrder::even_odd_x:
    case SiteOrder::qdp:
      return even_odd_site(n, x, p);
  }
  return lexicographic_site(n, x);
}

// The same in a half field, which holds the sites of one parity only. Every order but `lex` has half fields.
constexpr std::int64_t half_vector_site(SiteOrder order, const Extents& n, const Coordinates& x) {
  return vector_site(order, n, x) % (volume(n) / 2);
}

// The place of a site in a field of links. STAG links lie lexicographically; only STAG_BLOCK has the order of vectors.
constexpr std::int64_t link_site(SiteOrder order, const Extents& n, const Coordinates& x) {
  const int p = parity_number(x);
  switch (order) {
    case SiteOrder::lex:
    case SiteOrder::cps_stag:
      break;
    case SiteOrder::cps_stag_block:
      return stag_site(n, x, p);
    case SiteOrder::cps_wilson:
    case SiteOrder::even_odd_x:
    case SiteOrder::qdp:
      return even_odd_site(n, x, p);
  }
  return lexicographic_site(n, x);
}

// Whether links of one direction lie together, [mu][site]; else the four links of a site do, [site][mu].
constexpr bool by_direction(SiteOrder order) { return order == SiteOrder::qdp || order == SiteOrder::cps_stag_block; }
// How many buffers the links of a host have.
constexpr int buffers_of(SiteOrder order) { return order == SiteOrder::qdp ? 4 : 1; }
// Whether links are stored as [column][row].
constexpr bool transposed(SiteOrder order) { return order == SiteOrder::cps_wilson; }
// Whether links are stored as (eta U)^dagger whatever else is said of them.
constexpr bool always_adjoint(SiteOrder order) {
  return order == SiteOrder::cps_stag || order == SiteOrder::cps_stag_block;
}

// Calls visit(site, x) for every site of `lattice` in parallel: its lexicographic index and its local coordinates.
template <class Visit>
void for_all_sites(const Lattice& lattice, const Visit& visit) {
  const int row = lattice.local()[0];
  const std::int64_t sites = lattice.local_volume();
#pragma omp parallel for schedule(static)
  for (std::int64_t first = 0; first < sites; first += row) {
    Coordinates x = lattice.site_coordinates(first);
    for (; x[0] < row; ++x[0]) visit(first + x[0], x);
  }
}

}  // namespace staghorn
