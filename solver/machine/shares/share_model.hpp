// How long an iteration of CG takes ranks of different speed, and the slabs that let the slowest rank end first. Pure
// functions; no communication.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "halo/host_mapping.hpp"
#include "halo/lattice.hpp"

namespace staghorn {

// Seconds of an iteration on a part of V sites that sends A face sites: fixed + per_site V + per_face_site A.
struct RankSpeed {
  double fixed = 0, per_site = 0, per_face_site = 0;
};

// Sites of all faces that a part of these extents sends in a grid. Local.
std::int64_t face_sites_of(const Extents& local, const Extents& grid);
// What the model says of a rank with this part: packing of faces included, waiting for others not.
double own_seconds(const RankSpeed& speed, const Extents& local, const Extents& grid);
// Of the slowest rank; `speeds` by position in the grid of `widths`.
double slowest_seconds(const SlabWidths& widths, std::span<const RankSpeed> speeds);

// The even widths, at least `least` where `grid` cuts, for which the slowest rank takes least time: of one direction
// exactly; of several one after the other until none gets better, from equal slabs and from slabs by the speeds of
// their ranks. `speeds` by position.
SlabWidths balanced_widths(const Extents& global, const Extents& grid, int least, std::span<const RankSpeed> speeds);

struct BalancedCut {
  SlabWidths widths;
  double seconds = 0;  // of the slowest rank
};
// The best over all process grids that can cut `global`, or over `grid` alone. `speeds` by rank; `hosts` and `mapping`
// say which rank holds which part, as place_ranks does. Among equal grids the first, which cuts t most. Throws Error
// where no grid can.
BalancedCut balanced_cut(const Extents& global, const std::optional<Extents>& grid, int least,
                         std::span<const RankSpeed> speeds, std::span<const int> hosts, Mapping mapping);

}  // namespace staghorn
