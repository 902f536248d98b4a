// The stencil as data: the legs of a hop, that is the neighbours of a site, and the set of links that leads to each.
// Kernels, tables, faces, costs and the memory estimate read these lines.
//
//   naive      8 legs: for each mu  near forward, near backward
//   improved  16 legs: for each mu  near forward, near backward, Naik forward, Naik backward     (asqtad, HISQ)
//
//   D a(x) = sum_mu eta_mu(x) { F_mu(x) a(x+mu)  - F_mu(x-mu)^dagger a(x-mu)
//                             + c_N [ N_mu(x) a(x+3mu) - N_mu(x-3mu)^dagger a(x-3mu) ] }
//
// This is the canonical order of the sum. Host and device.
#pragma once

namespace staghorn {

enum class Stencil { naive, improved };

// near: links of one step, thin ones or fat ones. naik: products of three links, for a step of three sites.
enum class LinkSet { near, naik };

constexpr int steps_of(LinkSet set) { return set == LinkSet::naik ? 3 : 1; }

constexpr int link_sets(Stencil stencil) { return stencil == Stencil::improved ? 2 : 1; }
constexpr int legs_of(Stencil stencil) { return 8 * link_sets(stencil); }
// How many slices of ghosts a cut direction needs. Faces only: no leg turns a corner.
constexpr int depth_of(Stencil stencil) { return stencil == Stencil::improved ? steps_of(LinkSet::naik) : 1; }
// The smallest local extent: three steps must not leave the neighbour, nor cross the boundary twice.
constexpr int smallest_extent(Stencil stencil) { return stencil == Stencil::improved ? 4 : 2; }

struct Leg {
  int mu;
  LinkSet set;
  bool forward;
};

// The number of a leg in the canonical order, and its inverse.
constexpr int leg_number(Stencil stencil, const Leg& leg) {
  return 2 * (link_sets(stencil) * leg.mu + int(leg.set)) + (leg.forward ? 0 : 1);
}
constexpr Leg leg_of(Stencil stencil, int number) {
  const int sets = link_sets(stencil);
  return {number / (2 * sets), LinkSet(number / 2 % sets), number % 2 == 0};
}

}  // namespace staghorn
