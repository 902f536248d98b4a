#include "dirac/gauge/link_phases.hpp"

#include "halo/watch/error.hpp"

namespace staghorn {

std::string to_string(LinkPhases phases) {
  switch (phases) {
    case LinkPhases::none:
      return "none";
    case LinkPhases::cps:
      return "cps";
    case LinkPhases::milc:
      return "milc";
    case LinkPhases::tifr:
      return "tifr";
    case LinkPhases::chroma:
      return "chroma";
  }
  throw Error("phases of links", "a convention", int(phases));
}

LinkPhases parse_link_phases(const std::string& text) {
  for (const LinkPhases phases : {LinkPhases::none, LinkPhases::cps, LinkPhases::milc})
    if (text == to_string(phases)) return phases;
  throw Error("phases in links", "none, cps or milc", "'" + text + "'");
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
