// Equal slabs are laid out as if every rank saw its own part alone: the faces of a neighbour are those of this rank.
#include <algorithm>
#include <array>
#include <cstdio>
#include <optional>
#include <vector>

#include "dirac/stencil/hop_sign.hpp"
#include "dirac/stencil/neighbour_table.hpp"
#include "tests/unit/unit_checks.hpp"

namespace staghorn {

namespace {

struct Neighbour {
  Slot slot;  // ~slot in the ghost buffer
  float sign;
  bool operator==(const Neighbour&) const = default;
};

// What the table says of a lane.
Neighbour entry(const NeighbourTable& table, int legs, int lanes, int block, int leg, int lane) {
  const std::int32_t code = table.neighbours[std::size_t(block * legs + leg)];
  if (code >= 0) return {code / 2 * lanes + lane, code % 2 ? -1.0f : 1.0f};
  const SpecialNeighbour& special = table.special[std::size_t(~code)];
  const Slot in_block = special.block * lanes + special.source[lane];
  const Slot slot = special.kind == SpecialNeighbour::permuted      ? in_block
                    : special.kind == SpecialNeighbour::ghost_block ? ~in_block
                                                                    : special.source[lane];
  return {slot, special.sign[lane]};
}

// The rule for equal parts: a site beyond the edge is the site that wraps around in this rank's own layout, at the
// place that it has in this rank's own face. Nothing where that face has no such site.
std::optional<Neighbour> by_own_layout(const SiteLayout& layout, const Boundary& boundary, const FaceSites& faces,
                                       const Coordinates& x, const Leg& leg) {
  const Lattice& lattice = layout.lattice();
  const int mu = leg.mu, steps = leg.forward ? steps_of(leg.set) : -steps_of(leg.set), extent = lattice.local()[mu];
  const Coordinates at = lattice.to_global(x);
  const bool crosses = at[mu] + steps < 0 || at[mu] + steps >= lattice.global()[mu];
  const float sign = hop_is_negative(mu, at, crosses && is_antiperiodic(boundary.theta[mu])) ? -1 : 1;
  Coordinates y = x;
  y[mu] = (x[mu] + steps + extent) % extent;
  const bool leaves = x[mu] + steps < 0 || x[mu] + steps >= extent;
  if (!leaves || !lattice.partitioned(mu)) return Neighbour{layout.slot(y), sign};
  const auto face = std::size_t(2 * mu + (leg.forward ? 0 : 1));
  const std::vector<Slot>& sent = faces.slots[face];
  const auto found = std::find(sent.begin(), sent.end(), layout.slot(y));
  if (found == sent.end()) return std::nullopt;
  return Neighbour{~(faces.first_block[face] * layout.lanes() + Slot(found - sent.begin())), sign};
}

// Whether the tables of all ranks, stencils and parities follow that rule; `places` counts the lanes compared.
bool tables_follow_the_own_layout(const SlabWidths& widths, int lanes, std::int64_t& places) {
  const Boundary boundary;  // antiperiodic in t
  for (int rank = 0; rank < int(volume(grid_of(widths))); ++rank)
    for (const Stencil stencil : {Stencil::naive, Stencil::improved})
      for (const Parity target : {Parity::even, Parity::odd}) {
        const SiteLayout layout(Lattice(widths, rank), lanes);
        const FaceSites faces = face_sites(layout, opposite(target), depth_of(stencil));
        const NeighbourTable table = build_neighbour_table(layout, boundary, stencil, target, faces);
        for (int block = 0; block < layout.blocks(); ++block)
          for (int lane = 0; lane < lanes; ++lane) {
            Coordinates x;
            if (!layout.site(target, block * lanes + lane, x)) continue;
            for (int leg = 0; leg < legs_of(stencil); ++leg, ++places)
              if (entry(table, legs_of(stencil), lanes, block, leg, lane) !=
                  by_own_layout(layout, boundary, faces, x, leg_of(stencil, leg)))
                return false;
          }
      }
  return true;
}

bool equal_slabs_have_the_tables_of_one_part() {
  std::int64_t places = 0, others = 0;
  for (const int lanes : {1, 4, 8, 16})
    for (const Extents& grid : {Extents{2, 1, 1, 2}, {1, 2, 2, 1}, {1, 1, 1, 4}}) {
      const Extents global{8, 8, 16, 16};
      const SlabWidths widths = slab_widths(global, grid);
      if (!CHECK(all_equal(widths)) || !CHECK((tables_follow_the_own_layout(widths, lanes, places)))) return false;
      // Loop-back of one such part has the same faces, at the same places of the buffer.
      const Lattice part(widths, 0);
      std::array<bool, 4> cut{};
      for (int mu = 0; mu < 4; ++mu) cut[std::size_t(mu)] = grid[mu] > 1;
      const FaceSites here = face_sites(SiteLayout(part, lanes), Parity::odd, 1),
                      alone =
                          face_sites(SiteLayout(Lattice(part.local(), {1, 1, 1, 1}, 0, cut), lanes), Parity::odd, 1);
      if (!CHECK(here.slots == alone.slots) || !CHECK(here.first_block == alone.first_block)) return false;
    }
  std::printf("%ld neighbours\n", long(places));
  // Unequal slabs need not: of these one is cut into virtual nodes of 8 lanes, the other is not.
  return CHECK(!tables_follow_the_own_layout({{{6}, {6}, {4, 8}, {4}}}, 8, others));
}

}  // namespace

std::vector<UnitCheck> slab_checks() { return {UNIT_CHECK(equal_slabs_have_the_tables_of_one_part)}; }

}  // namespace staghorn
