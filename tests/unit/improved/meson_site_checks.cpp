// What GPUs compute at a site for mesons has the bits of the host's text: covariant shifts, with neighbours on this
// rank and in faces, and their signs; and each site of a time slice is of one kind.
#include <cstring>
#include <set>

#include "dirac/operators/covariant_shift.hpp"
#include "dirac/operators/plain_operator.hpp"
#include "solver/observables/meson_site.hpp"
#include "solver/observables/meson_sums.hpp"
#include "solver/observables/spin_taste_operator.hpp"
#include "tests/unit/unit_checks.hpp"

namespace staghorn {

namespace {

using Vector = ColorVector<double>;

struct ShiftText {
  ShiftText(const LinkField& links, const VectorField& in, const Boundary& boundary, int mu, bool with_faces) {
    const Lattice& lattice = in.lattice();
    for (int nu = 0; nu < 4; ++nu) {
      hop.local[nu] = hop.global[nu] = lattice.local()[nu];
      hop.origin[nu] = 0;
      hop.crossing_phase[nu] = boundary_phase(boundary.theta[std::size_t(nu)]);
    }
    hop.in = in.data();
    hop.n_legs = 1;
    PlainLeg& leg = hop.legs[0];
    leg = {mu, 1, 1, reinterpret_cast<const ColorMatrix<double>*>(links.data()) + mu, 4};
    if (!with_faces) return;
    for (std::int64_t k = 0; k < lattice.local_volume() / lattice.local()[mu]; ++k) {
      ahead.push_back(in[plain_face_site(hop, leg, false, k)]);
      Vector& v = behind.emplace_back();
      for (int i = 0; i < 3; ++i) v.c[i] = plain_backward(hop, leg, plain_face_site(hop, leg, true, k), i);
    }
    leg.ahead = ahead.data(), leg.behind = behind.data();
  }

  PlainHop hop;
  std::vector<Vector> ahead, behind;
};

bool shifts_of_gpus_have_the_bits_of_the_host() {
  const Communicator communicator(MPI_COMM_SELF);
  for (const Extents& extents : {Extents{4, 6, 8, 10}, Extents{2, 4, 2, 6}})
    for (const char* conditions : {"periodic,periodic,periodic,antiperiodic", "0.3,-0.5,antiperiodic,0.125"}) {
      const Lattice lattice(extents, {1, 1, 1, 1}, 0);
      const Boundary boundary = parse_boundary(conditions);
      LinkField links(lattice);
      make_random(links);
      VectorField in(lattice);
      for (std::int64_t site = 0; site < in.size(); ++site) {
        RandomStream random = test_stream(3000000 + std::uint64_t(site));
        for (auto& component : in[site].c) component = complex_gaussian(random);
      }
      for (int mu = 0; mu < 4; ++mu) {
        const VectorField shifted = symmetric_shift(communicator, links, boundary, in, mu);
        for (const bool with_faces : {false, true}) {
          const ShiftText text(links, in, boundary, mu, with_faces);
          for (std::int64_t site = 0; site < in.size(); ++site) {
            Vector found;
            for (int i = 0; i < 3; ++i) found.c[i] = symmetric_shift_at(text.hop, std::uint32_t(site), i);
            if (!CHECK(std::memcmp(&found, &shifted[site], sizeof found) == 0)) return false;
          }
        }
      }
    }
  return true;
}

bool kinds_of_gpus_are_those_of_the_host() {
  const Lattice lattice({12, 6, 8, 4}, {2, 3, 1, 1}, 3);  // local extents 6, 2, 8, 4
  const Coordinates source{1, 2, 5, 3};
  MesonGeometry geometry;
  PlainHop hop;
  for (int mu = 0; mu < 4; ++mu) {
    geometry.local[mu] = hop.local[mu] = lattice.local()[mu];
    geometry.origin[mu] = hop.origin[mu] = lattice.origin()[mu];
    geometry.source[mu] = source[mu];
  }
  std::set<std::int64_t> seen;
  for (int kind = 0; kind < int(n_kinds); ++kind) {
    const KindSites sites = sites_of_kind(geometry, kind);
    for (int n = 0; n < number_of(sites); ++n) {
      int x[3];
      place_of_kind(sites, n, x);
      const Coordinates global = lattice.to_global({x[0], x[1], x[2], 0});
      if (!CHECK((parities_of(global, source) & 7) == kind)) return false;
      seen.insert(lattice.site_index({x[0], x[1], x[2], 0}));
    }
  }
  for (std::int64_t site = 0; site < lattice.local_volume(); ++site)
    for (int mu = 0; mu < 4; ++mu) {  // zeta_mu = eps (-1)^(x_mu): of one spin, eps zeta_mu = sign_at
      const int parities = parities_of(lattice.to_global(lattice.site_coordinates(site)), source);
      const bool negative = sign_at(1 << mu, parities) * sign_at(0, parities) < 0;
      if (!CHECK(zeta_is_negative(hop, geometry, mu, std::uint32_t(site)) == negative)) return false;
    }
  return CHECK(std::int64_t(seen.size()) == lattice.local_volume() / lattice.local()[3]);
}

}  // namespace

std::vector<UnitCheck> meson_site_checks() {
  return {UNIT_CHECK(shifts_of_gpus_have_the_bits_of_the_host), UNIT_CHECK(kinds_of_gpus_are_those_of_the_host)};
}

}  // namespace staghorn
