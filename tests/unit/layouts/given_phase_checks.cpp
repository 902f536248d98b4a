// Links that carry phases: the signs that are found make our operator the host's, to the last bit. Run on several
// ranks, the lattice is cut among them (test_unit_checks.py).
#include <cmath>
#include <cstring>
#include <numbers>

#include "dirac/algebra/su3_matrix.hpp"
#include "dirac/operators/plain_operator.hpp"
#include "halo/watch/error.hpp"
#include "solver/interface/layouts/given_phases.hpp"
#include "solver/interface/layouts/link_conversion.hpp"
#include "solver/interface/layouts/site_order.hpp"
#include "tests/unit/unit_checks.hpp"

namespace staghorn {

namespace {

using Link = ColorMatrix<double>;

Extents grid_of(int ranks) {
  if (ranks == 2) return {1, 1, 2, 1};
  if (ranks == 4) return {2, 1, 1, 2};
  return {1, 1, 1, 1};
}

// Random links in SU(3), and a random vector, by global site.
struct Problem {
  Communicator communicator{MPI_COMM_WORLD};
  Lattice lattice{{4, 6, 4, 8}, grid_of(communicator.size()), communicator.rank()};
  LinkField u{lattice};
  VectorField a{lattice};

  Problem() {
    for (std::int64_t site = 0; site < u.size(); ++site) {
      RandomStream random = test_stream(std::uint64_t(global_site(site)));
      for (Link& link : u[site]) link = random_matrix(random);
      for (auto& c : a[site].c) c = complex_gaussian(random);
    }
    reunitarize(u);
  }
  std::int64_t global_site(std::int64_t site) const {
    return lattice.global_site_index(lattice.to_global(lattice.site_coordinates(site)));
  }
  // The links times factor(mu, x), x global.
  template <class Factor>
  LinkField with(const Factor& factor) const {
    LinkField v = u;
    for_all_sites(lattice, [&](std::int64_t site, const Coordinates& x) {
      for (int mu = 0; mu < 4; ++mu) {
        const Complex<double> f = factor(mu, lattice.to_global(x));
        for (auto& row : v[site][mu].e)
          for (auto& e : row) e = f.im == 0 ? Complex<double>{f.re * e.re, f.re * e.im} : f * e;
      }
    });
    return v;
  }
};

// The host's operator: sum_mu V_mu(x) a(x+mu) - V_mu(x-mu)^dagger a(x-mu), without phases or boundary of its own.
VectorField host_hop(const Problem& problem, const LinkField& v) {
  VectorField out(problem.lattice);
  for (int mu = 0; mu < 4; ++mu) {
    const NeighbourSites<ColorVector<double>> ahead(problem.communicator, problem.a, mu, +1);
    const NeighbourSites<ColorVector<double>> behind(problem.communicator, problem.a, mu, -1);
    const NeighbourSites<Links> links_behind(problem.communicator, v, mu, -1);
    for (std::int64_t site = 0; site < out.size(); ++site) {
      ColorVector<double> forward{}, backward{};
      multiply_add(forward, v[site][mu], ahead[site]);
      adjoint_multiply_subtract(backward, links_behind[site][mu], behind[site]);
      for (int c = 0; c < 3; ++c) out[site].c[c] = out[site].c[c] + forward.c[c] + backward.c[c];
    }
  }
  return out;
}

// S D S a, with the links and signs that were found in `v`.
VectorField found_hop(const Problem& problem, const GivenPhases& found, const LinkField& links) {
  const auto sign = [&](VectorField& field) {
    for (std::int64_t site = 0; site < field.size() && !found.signs.empty(); ++site)
      for (auto& c : field[site].c) c = {found.signs[site] * c.re, found.signs[site] * c.im};
  };
  VectorField in = problem.a, out(problem.lattice);
  sign(in);
  plain_hop(problem.communicator, links, found.boundary, out, in);
  sign(out);
  return out;
}

double largest_difference(const Problem& problem, const VectorField& a, const VectorField& b) {
  double largest = 0;
  for (std::int64_t site = 0; site < a.size(); ++site)
    for (int c = 0; c < 3; ++c)
      largest = std::max(
          {largest, std::fabs(a[site].c[c].re - b[site].c[c].re), std::fabs(a[site].c[c].im - b[site].c[c].im)});
  return problem.communicator.max(largest);
}

bool same_links(const Problem& problem, const LinkField& a, const LinkField& b) {
  return !problem.communicator.any(std::memcmp(a.data(), b.data(), std::size_t(a.bytes())) != 0);
}

// Any convention, any origin of the phases, an antiperiodic slice anywhere: the thin links come back to the last bit,
// and the operator is the host's.
bool signs_are_found_for_every_origin() {
  const Problem problem;
  const Extents& n = problem.lattice.global();
  for (const LinkPhases phases : {LinkPhases::cps, LinkPhases::milc, LinkPhases::tifr})
    for (int corner = 0; corner < 16; ++corner) {
      const int slice = corner % n[3], direction = corner % 5;  // direction 4: periodic everywhere
      LinkField v = problem.with([&](int mu, Coordinates x) -> Complex<double> {
        const bool turns = mu == direction && x[mu] == slice % n[mu];
        for (int nu = 0; nu < 4; ++nu) x[nu] += corner >> nu & 1;
        return {link_phase(phases, mu, x) * (turns ? -1.0 : 1.0), 0};
      });
      const VectorField expected = host_hop(problem, v);
      const GivenPhases found = take_out_phases(problem.communicator, v);
      std::array<double, 4> theta{};
      if (direction < 4) theta[direction] = 1;
      const bool is_origin = problem.lattice.to_global({0, 0, 0, 0}) == Coordinates{};
      if (!CHECK(found.only_signs) || !CHECK(same_links(problem, v, problem.u)) ||
          !CHECK(found.boundary.theta == theta) || (is_origin && !CHECK(int(found.signs[0]) == 1)) ||
          !CHECK(largest_difference(problem, found_hop(problem, found, v), expected) < 1e-14))
        return false;
    }
  return true;
}

// A random gauge change of signs is found as well, and scaled links keep their factor.
bool a_change_of_signs_is_found() {
  const Problem problem;
  const auto s = [&](Coordinates x) {
    for (int nu = 0; nu < 4; ++nu) x[nu] %= problem.lattice.global()[nu];
    RandomStream random = test_stream(std::uint64_t(7000000 + problem.lattice.global_site_index(x)));
    return complex_gaussian(random).re < 0 ? -1.0 : 1.0;
  };
  LinkField v = problem.with([&](int mu, const Coordinates& x) -> Complex<double> {
    Coordinates y = x;
    ++y[mu];
    return {s(x) * link_phase(LinkPhases::milc, mu, x) * s(y) * (mu == 3 ? 1.5 : 1), 0};
  });
  const VectorField expected = host_hop(problem, v);
  const GivenPhases found = take_out_phases(problem.communicator, v);
  const LinkField scaled = problem.with([](int mu, const Coordinates&) -> Complex<double> {
    return {mu == 3 ? 1.5 : 1, 0};
  });
  return CHECK(found.only_signs) && CHECK(same_links(problem, v, scaled)) &&
         CHECK(found.boundary.theta == std::array<double, 4>{}) &&
         CHECK(largest_difference(problem, found_hop(problem, found, v), expected) < 1e-14);
}

// A twist, on one slice or spread over all links, cannot be taken out exactly: the links are used as they are.
bool a_twist_stays_in_the_links() {
  const Problem problem;
  const Extents& n = problem.lattice.global();
  for (const bool spread : {false, true}) {
    LinkField v = problem.with([&](int mu, const Coordinates& x) -> Complex<double> {
      double angle = 0;
      if (mu == 1) angle = spread ? 0.3 * std::numbers::pi / n[1] : x[1] == n[1] - 1 ? 0.3 * std::numbers::pi : 0;
      const double eta = link_phase(LinkPhases::milc, mu, x);
      return {eta * std::cos(angle), eta * std::sin(angle)};
    });
    const VectorField expected = host_hop(problem, v);
    const GivenPhases found = take_out_phases(problem.communicator, v);
    if (!CHECK(!found.only_signs) || !CHECK(found.signs.empty()) ||
        !CHECK(found.boundary.theta == std::array<double, 4>{}) ||
        !CHECK(largest_difference(problem, found_hop(problem, found, v), expected) < 1e-14))
      return false;
  }
  return true;
}

std::string complaint(const Problem& problem, LinkField v) {
  try {
    take_out_phases(problem.communicator, v);
  } catch (const Error& error) {
    if (problem.communicator.is_root()) std::printf("%s\n", error.what());
    return error.what();
  }
  return "";
}

bool contains(const std::string& text, const char* words) { return text.find(words) != std::string::npos; }

// One sign of one link: refused, and the link is named, wherever it lies.
bool one_wrong_sign_is_refused_by_name() {
  const Problem problem;
  for (const auto& [where, direction, name] : {std::tuple{Coordinates{0, 0, 0, 0}, 3, "U_t at (0, 0, 0, 0)"},
                                               {Coordinates{3, 5, 3, 7}, 0, "U_x at (3, 5, 3, 7)"},
                                               {Coordinates{1, 2, 3, 3}, 1, "U_y at (1, 2, 3, 3)"},
                                               {Coordinates{2, 0, 1, 4}, 2, "U_z at (2, 0, 1, 4)"}}) {
    const LinkField v = problem.with([&, where = where, direction = direction](int mu, const Coordinates& x) {
      const double sign = link_phase(LinkPhases::milc, mu, x);
      return Complex<double>{mu == direction && x == where ? -sign : sign, 0};
    });
    const std::string text = complaint(problem, v);
    if (!CHECK(bool(contains(text, name))) || !CHECK(bool(contains(text, "found 6 of 4608 plaquettes")))) return false;
  }
  return true;
}

// Links without phases, with phases of no convention, and with a link that is zero.
bool links_of_no_staggered_quark_are_refused() {
  const Problem problem;
  if (!CHECK(bool(contains(complaint(problem, problem.u), "4608 of 4608 plaquettes with another flux; links without"))))
    return false;
  // A sign that depends on the wrong coordinate: the flux is wrong in whole planes.
  const LinkField swapped = problem.with([](int mu, const Coordinates& x) -> Complex<double> {
    return {mu == 1 ? 1.0 : double(link_phase(LinkPhases::cps, mu, x)), 0};
  });
  if (!CHECK(bool(contains(complaint(problem, swapped), "plaquette xy at (0, 0, 0, 0)")))) return false;
  LinkField v = problem.with([](int mu, const Coordinates& x) -> Complex<double> {
    return {double(link_phase(LinkPhases::cps, mu, x)), 0};
  });
  for (std::int64_t site = 0; site < v.size(); ++site)
    if (problem.lattice.to_global(problem.lattice.site_coordinates(site)) == Coordinates{3, 1, 2, 6}) v[site][2] = {};
  return CHECK(bool(contains(complaint(problem, v), "U_z at (3, 1, 2, 6): expected a finite link")));
}

// The same through the reader of a host's buffers: MILC's order, phases as given.
bool links_as_given_are_read_from_a_host() {
  const Problem problem;
  const LinkField v = problem.with([&](int mu, const Coordinates& x) -> Complex<double> {
    return {link_phase(LinkPhases::milc, mu, x) * (mu == 3 && x[3] == problem.lattice.global()[3] - 1 ? -1.0 : 1.0), 0};
  });
  HostLinks layout;
  layout.order = SiteOrder::even_odd_x;
  std::vector<Links> host(std::size_t(v.size()));
  write_links(layout, v, {host.data()});
  layout.as_given = true;
  LinkField taken_links(problem.lattice);
  const TakenLinks taken = take_links(problem.communicator, layout, {host.data()}, taken_links);
  if (!CHECK(same_links(problem, taken_links, problem.u)) || !CHECK(taken.unscaled) ||
      !CHECK(taken.boundary.theta == std::array<double, 4>{0, 0, 0, 1}))
    return false;
  for (std::int64_t site = 0; site < v.size(); ++site) {
    const Coordinates x = problem.lattice.to_global(problem.lattice.site_coordinates(site));
    if (!CHECK(taken.signs.at(site, x) == double(milc_phase_sign(x)))) return false;
  }
  return true;
}

}  // namespace

std::vector<UnitCheck> given_phase_checks() {
  return {UNIT_CHECK(signs_are_found_for_every_origin),
          UNIT_CHECK(a_change_of_signs_is_found),
          UNIT_CHECK(a_twist_stays_in_the_links),
          UNIT_CHECK(one_wrong_sign_is_refused_by_name),
          UNIT_CHECK(links_of_no_staggered_quark_are_refused),
          UNIT_CHECK(links_as_given_are_read_from_a_host)};
}

}  // namespace staghorn
