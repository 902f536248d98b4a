// Sums over paths of links around a link or a site: staples, rectangles, clover leaves. Host and device.
//
// A view says where links are: u.link(x, mu) is U_mu(x), u.ahead(x, nu) and u.behind(x, nu) are the places x+nu and
// x-nu. RimmedLinks (rimmed_links.hpp) has the views of the host; a kernel brings its own.
#pragma once

#include <cstdint>

#include "dirac/gauge/plaquette_paths.hpp"
#include "dirac/gauge/smoothing/su3_algebra.hpp"

// A loop whose body is long stays a loop on a GPU.
#if defined(__CUDACC__)
#define STAGHORN_ROLLED _Pragma("unroll 1")
#else
#define STAGHORN_ROLLED
#endif

namespace staghorn {

// The two staples of a link in direction nu, of matrices A_nu on the sides and M_mu at the top:
// A_nu(x) M_mu(x+nu) A_nu(x+mu)^dagger
template <class View>
STAGHORN_INLINE void add_staple_ahead(ColorMatrix<double>& sum, const View& a, const View& m, std::int64_t x, int mu,
                                      int nu) {
  add_path_ahead(sum, a.link(x, nu), m.link(m.ahead(x, nu), mu), a.link(a.ahead(x, mu), nu));
}
// A_nu(x-nu)^dagger M_mu(x-nu) A_nu(x-nu+mu)
template <class View>
STAGHORN_INLINE void add_staple_behind(ColorMatrix<double>& sum, const View& a, const View& m, std::int64_t x, int mu,
                                       int nu) {
  const std::int64_t y = m.behind(x, nu);
  add_path(sum, path_behind(a.link(y, nu), m.link(y, mu), a.link(a.ahead(y, mu), nu)));
}
template <class View>
STAGHORN_INLINE void add_staples(ColorMatrix<double>& sum, const View& a, const View& m, std::int64_t x, int mu,
                                 int nu) {
  add_staple_ahead(sum, a, m, x, mu, nu);
  add_staple_behind(sum, a, m, x, mu, nu);
}

// Gauge action S = (2 / g^2) sum over plaquettes and 1x2 rectangles of these weights times Re tr(1 - U).
struct FlowAction {
  double plaquette = 1, rectangle = 0;  // Wilson's
  int directions = 4;                   // 3: links and paths in space alone
};
inline constexpr FlowAction symanzik_action{5. / 3, -1. / 12, 4};  // Luescher and Weisz, tree level

// sum += weight times the paths of five links around the rectangles on one side of U_mu(x): three staples with one side
// replaced by its own staple,  A [M' B + M B'] + A' M B,  A, M, B the links of the plaquette on that side.
template <class View>
STAGHORN_INLINE void add_rectangles(ColorMatrix<double>& sum, double weight, const View& u, std::int64_t x, int mu,
                                    int nu, bool ahead) {
  const std::int64_t corner = ahead ? x : u.behind(x, nu), other = u.ahead(corner, mu);
  const std::int64_t top = ahead ? u.ahead(x, nu) : corner;
  const auto a = [&] { return ahead ? u.link(corner, nu) : adjoint(u.link(corner, nu)); };
  const auto b = [&] { return ahead ? adjoint(u.link(other, nu)) : u.link(other, nu); };
  ColorMatrix<double> longer{}, right{}, left{};
  if (ahead)
    add_staple_ahead(longer, u, u, top, mu, nu);
  else
    add_staple_behind(longer, u, u, top, mu, nu);
  ColorMatrix<double> inner = longer * b();
  add_staple_ahead(right, u, u, other, nu, mu);
  add_product(inner, u.link(top, mu), ahead ? adjoint(right) : right);
  add_product(sum, a(), scaled_link(weight, inner));
  add_staple_behind(left, u, u, corner, nu, mu);
  inner = (ahead ? left : adjoint(left)) * u.link(top, mu);
  add_product(sum, scaled_link(weight, inner), b());
}

// The weighted sum of all paths from x to x+mu around plaquettes and rectangles of U_mu(x). 6 paths, 2.6 kflop; with
// rectangles 18 more, and 14 kflop more.
template <class View>
STAGHORN_INLINE ColorMatrix<double> action_paths(const View& u, std::int64_t x, int mu, const FlowAction& action) {
  ColorMatrix<double> sum{};
  STAGHORN_ROLLED
  for (int nu = 0; nu < action.directions; ++nu) {
    if (nu == mu) continue;
    ColorMatrix<double> staples{};
    add_staples(staples, u, u, x, mu, nu);
    add_scaled(sum, action.plaquette, staples);
    if (action.rectangle == 0) continue;
    STAGHORN_ROLLED
    for (int side = 0; side < 2; ++side) add_rectangles(sum, action.rectangle, u, x, mu, nu, side == 0);
  }
  return sum;
}

// Z_mu(x) = -P[U_mu(x) paths^dagger], P the part in the algebra: dU/dt = Z U lowers the action
// [Luescher, arXiv:1006.4518, eq. 1.4].
template <class View>
STAGHORN_INLINE AntiHermitian flow_force(const View& u, std::int64_t x, int mu, const FlowAction& action) {
  return algebra_part(action_paths(u, x, mu, action) * adjoint(u.link(x, mu)));  // P[M^dagger] = -P[M]
}

// F_munu(x) = P[sum of the four leaves of the clover] / 4
template <class View>
STAGHORN_INLINE AntiHermitian field_strength(const View& u, std::int64_t x, int mu, int nu) {
  const std::int64_t left = u.behind(x, mu), down = u.behind(x, nu), corner = u.behind(left, nu);
  const std::int64_t right = u.ahead(x, mu), up = u.ahead(x, nu), up_left = u.behind(up, mu);
  const std::int64_t down_right = u.behind(right, nu);
  ColorMatrix<double> sum{};
  add_product(sum, u.link(x, mu) * u.link(right, nu), adjoint(u.link(x, nu) * u.link(up, mu)));
  add_product(sum, u.link(x, nu) * adjoint(u.link(left, nu) * u.link(up_left, mu)), u.link(left, mu));
  add_product(sum, adjoint(u.link(corner, nu) * u.link(left, mu)), u.link(corner, mu) * u.link(down, nu));
  add_product(sum, adjoint(u.link(down, nu)) * u.link(down, mu), u.link(down_right, nu) * adjoint(u.link(x, mu)));
  AntiHermitian f = algebra_part(sum);
  combine(f, 0.25, 0.0, f);
  return f;
}

// What a site adds to energies and charge.
struct SiteFieldStrength {
  double space, time;  // -tr F^2 summed over xy, xz, yz and over xt, yt, zt
  double charge;       // -tr [F_xy F_zt - F_xz F_yt + F_yz F_xt]
};

// 6 clovers, 16 kflop. A plane and the one that is dual to it go together: xy with zt, xz with yt, yz with xt.
template <class View>
STAGHORN_INLINE SiteFieldStrength site_field_strength(const View& u, std::int64_t x) {
  SiteFieldStrength sum{0, 0, 0};
  STAGHORN_ROLLED
  for (int plane = 0; plane < 3; ++plane) {
    const AntiHermitian space = field_strength(u, x, plane == 2, plane == 0 ? 1 : 2);
    const AntiHermitian time = field_strength(u, x, 2 - plane, 3);
    sum.space += scalar_product(space, space);
    sum.time += scalar_product(time, time);
    const double product = scalar_product(space, time);
    sum.charge += plane == 1 ? -product : product;
  }
  return sum;
}

}  // namespace staghorn
