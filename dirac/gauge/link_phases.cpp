#include "dirac/gauge/link_phases.hpp"

#include "halo/watch/error.hpp"

namespace staghorn {

namespace {

// MILC's eta: (-1)^t, (-1)^(t+x), (-1)^(t+x+y), 1 for x, y, z, t.
int milc_phase(int mu, const Coordinates& x) {
  int exponent = mu == 3 ? 0 : x[3];
  for (int nu = 0; nu < mu && mu < 3; ++nu) exponent += x[nu];
  return exponent & 1 ? -1 : 1;
}

}  // namespace

std::string to_string(LinkPhases phases) {
  return phases == LinkPhases::none ? "none" : phases == LinkPhases::cps ? "cps" : "milc";
}

LinkPhases parse_link_phases(const std::string& text) {
  for (const LinkPhases phases : {LinkPhases::none, LinkPhases::cps, LinkPhases::milc})
    if (text == to_string(phases)) return phases;
  throw Error("phases in links", "none, cps or milc", "'" + text + "'");
}

int link_phase(LinkPhases phases, int mu, const Coordinates& x) {
  if (phases == LinkPhases::none) return 1;
  return phases == LinkPhases::milc ? milc_phase(mu, x) : staggered_phase(mu, x);
}

void multiply_phases(LinkField& links, LinkPhases phases, const Boundary& boundary, int steps) {
  if (phases == LinkPhases::none) return;
  for (const double theta : boundary.theta)
    if (theta != 0 && theta != 1) throw Error("boundary of links with phases", "periodic or antiperiodic", theta);
  const Lattice& lattice = links.lattice();
#pragma omp parallel for schedule(static)
  for (std::int64_t site = 0; site < links.size(); ++site) {
    const Coordinates x = lattice.to_global(lattice.site_coordinates(site));
    for (int mu = 0; mu < 4; ++mu) {
      int sign = link_phase(phases, mu, x);
      // A lattice shorter than the steps is crossed more than once.
      const int crossings = (x[mu] + steps) / lattice.global()[mu];
      if (boundary.theta[mu] == 1 && crossings % 2 == 1) sign = -sign;
      if (sign > 0) continue;
      for (auto& row : links[site][mu].e)
        for (auto& element : row) element = {-element.re, -element.im};
    }
  }
}

}  // namespace staghorn
