#include "solver/interface/layouts/link_conversion.hpp"

#include <cstring>

#include "dirac/algebra/su3_matrix.hpp"
#include "halo/watch/error.hpp"
#include "solver/interface/layouts/given_phases.hpp"

namespace staghorn {

namespace {

using Link = ColorMatrix<double>;

// Where links lie in the buffers of a host.
class Places {
 public:
  Places(const HostLinks& layout, const Lattice& lattice)
      : layout_(layout), local_(lattice.local()), stride_(stride_of(layout)) {
    check_layout(layout);
  }
  // Bytes from the start of buffer(mu) to U_mu(x).
  std::int64_t of(int mu, const Coordinates& x) const {
    const std::int64_t site = link_site(layout_.order, local_, x);
    if (layout_.order == SiteOrder::cps_stag_block) return layout_.link_offset + (volume(local_) * mu + site) * stride_;
    const std::int64_t within = by_direction(layout_.order) ? 0 : mu * 18 * bytes_of(layout_.real);
    return site * stride_ + layout_.link_offset + within;
  }
  int buffer(int mu) const { return layout_.order == SiteOrder::qdp ? mu : 0; }

 private:
  HostLinks layout_;
  Extents local_;
  std::int64_t stride_;
};

bool is_odd(double theta) { return is_sign(theta) && !is_sign(theta / 2); }

// The sign that a layout multiplies into U_mu(x), x global. A boundary phase that is no sign is not looked at.
class LinkSigns {
 public:
  LinkSigns(const HostLinks& layout, const Lattice& lattice)
      : phases_(layout.as_given ? LinkPhases::none : layout.phases), global_(lattice.global()) {
    if (layout.as_given || !layout.boundary_in) return;
    for (int mu = 0; mu < 4; ++mu) negative_[mu] = is_odd(layout.boundary.theta[mu]);
  }
  double at(int mu, const Coordinates& x) const {
    const double sign = link_phase(phases_, mu, x);
    return negative_[mu] && x[mu] == global_[mu] - 1 ? -sign : sign;
  }

 private:
  LinkPhases phases_;
  Extents global_;
  std::array<bool, 4> negative_{};
};

template <class Real>
Link load_as(const std::byte* place) {
  Real reals[18];
  std::memcpy(reals, place, sizeof reals);
  Link u;
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) u.e[i][j] = {double(reals[6 * i + 2 * j]), double(reals[6 * i + 2 * j + 1])};
  return u;
}

template <class Real>
void store_as(std::byte* place, const Link& u) {
  Real reals[18];
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) {
      reals[6 * i + 2 * j] = Real(u.e[i][j].re);
      reals[6 * i + 2 * j + 1] = Real(u.e[i][j].im);
    }
  std::memcpy(place, reals, sizeof reals);
}

Link transpose(const Link& u) {
  Link result;
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) result.e[i][j] = u.e[j][i];
  return result;
}

// What a host does to a link before it stores it, and takes back. Each step is its own inverse.
Link turned(const HostLinks& layout, Link u) {
  if (transposed(layout.order)) u = transpose(u);
  if (layout.dagger || always_adjoint(layout.order)) u = adjoint(u);
  return u;
}

void multiply(Link& u, double factor) {
  for (auto& row : u.e)
    for (auto& element : row) element = {factor * element.re, factor * element.im};
}

// U_mu(x) without its sign.
Link load(const HostLinks& layout, const std::byte* place, double sign) {
  Link u = turned(layout, layout.real == HostReal::fp64 ? load_as<double>(place) : load_as<float>(place));
  multiply(u, sign);
  return u;
}

void store(const HostLinks& layout, std::byte* place, Link u, double sign) {
  multiply(u, sign);
  u = turned(layout, u);
  layout.real == HostReal::fp64 ? store_as<double>(place, u) : store_as<float>(place, u);
}

const std::byte* bytes(const void* buffer) { return static_cast<const std::byte*>(buffer); }
std::byte* bytes(void* buffer) { return static_cast<std::byte*>(buffer); }

// Whether the phase of direction mu is in the links and no sign.
bool holds_phase(const HostLinks& layout, int mu) { return layout.boundary_in && !is_sign(layout.boundary.theta[mu]); }

}  // namespace

TakenLinks take_links(const Communicator& communicator, const HostLinks& layout, const LinkBuffers& host,
                      LinkField& out) {
  const Lattice& lattice = out.lattice();
  const Places places(layout, lattice);
  const LinkSigns signs(layout, lattice);
  for_all_sites(lattice, [&](std::int64_t site, const Coordinates& x) {
    const Coordinates global = lattice.to_global(x);
    for (int mu = 0; mu < 4; ++mu)
      out[site][mu] = load(layout, bytes(host[places.buffer(mu)]) + places.of(mu, x), signs.at(mu, global));
  });

  TakenLinks taken;
  if (layout.as_given) {
    GivenPhases found = take_out_phases(communicator, out);
    taken.boundary = found.boundary;
    taken.signs.found = std::move(found.signs);
    taken.unscaled = found.only_signs;
  } else {
    taken.boundary = layout.boundary;
    if (layout.phases != LinkPhases::none) taken.signs.phases = layout.phases;
    for (int mu = 0; mu < 4; ++mu) {
      double& theta = taken.boundary.theta[mu];
      if (is_sign(theta)) theta = is_odd(theta) ? 1 : 0;
      if (!holds_phase(layout, mu)) continue;
      theta = 0;
      taken.unscaled = false;
    }
  }
  if (layout.scale == std::array<double, 4>{1, 1, 1, 1}) return taken;
  taken.unscaled = false;
  for_all_sites(lattice, [&](std::int64_t site, const Coordinates&) {
    for (int mu = 0; mu < 4; ++mu) multiply(out[site][mu], layout.scale[mu]);
  });
  return taken;
}

void write_links(const HostLinks& layout, const LinkField& in, const std::array<void*, 4>& host) {
  const Lattice& lattice = in.lattice();
  const Places places(layout, lattice);
  const LinkSigns signs(layout, lattice);
  if (layout.as_given) throw Error("phases of links to be written", "a known convention", "links as given");
  for (int mu = 0; mu < 4; ++mu)
    if (holds_phase(layout, mu))
      throw Error("theta of links to be written", "whole numbers, which are signs", layout.boundary.theta[mu]);
  for_all_sites(lattice, [&](std::int64_t site, const Coordinates& x) {
    const Coordinates global = lattice.to_global(x);
    for (int mu = 0; mu < 4; ++mu)
      store(layout, bytes(host[places.buffer(mu)]) + places.of(mu, x), in[site][mu], signs.at(mu, global));
  });
}

void convert_links(const Lattice& lattice, const HostLinks& from_layout, const LinkBuffers& from,
                   const HostLinks& to_layout, const std::array<void*, 4>& to) {
  const Places from_places(from_layout, lattice), to_places(to_layout, lattice);
  const LinkSigns from_signs(from_layout, lattice), to_signs(to_layout, lattice);
  if (from_layout.as_given != to_layout.as_given)
    throw Error("phases of links to be converted", "a known convention, or links as given on both sides",
                "links as given on one side");
  for (int mu = 0; mu < 4 && !from_layout.as_given; ++mu) {
    const bool held = holds_phase(from_layout, mu), wanted = holds_phase(to_layout, mu);
    if ((held || wanted) && (held != wanted || from_layout.boundary.theta[mu] != to_layout.boundary.theta[mu]))
      throw Error("boundary_in of links to be converted", "the same phase on both sides, where it is no sign",
                  "theta " + three_digits(from_layout.boundary.theta[mu]) + " and " +
                      three_digits(to_layout.boundary.theta[mu]));
  }
  for_all_sites(lattice, [&](std::int64_t, const Coordinates& x) {
    const Coordinates global = lattice.to_global(x);
    for (int mu = 0; mu < 4; ++mu) {
      const std::byte* read = bytes(from[from_places.buffer(mu)]) + from_places.of(mu, x);
      std::byte* written = bytes(to[to_places.buffer(mu)]) + to_places.of(mu, x);
      store(to_layout, written, load(from_layout, read, from_signs.at(mu, global)), to_signs.at(mu, global));
    }
  });
}

}  // namespace staghorn
