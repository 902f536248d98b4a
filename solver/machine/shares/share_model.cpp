#include "solver/machine/shares/share_model.hpp"

#include <algorithm>
#include <limits>
#include <string>

#include "halo/watch/error.hpp"

namespace staghorn {

namespace {

Extents part_of_position(const SlabWidths& widths, int position) {
  const Coordinates at = unravel(position, grid_of(widths));
  Extents local{};
  for (std::size_t mu = 0; mu < 4; ++mu) local[mu] = widths[mu][std::size_t(at[mu])];
  return local;
}

// Seconds of the slowest rank of slab `slab` in direction mu, if its width is `width` and the others are as they are.
double slab_seconds(const SlabWidths& widths, int mu, int slab, int width, std::span<const RankSpeed> speeds) {
  const Extents grid = grid_of(widths);
  double slowest = 0;
  for (int position = 0; position < int(speeds.size()); ++position) {
    if (unravel(position, grid)[mu] != slab) continue;
    Extents local = part_of_position(widths, position);
    local[mu] = width;
    slowest = std::max(slowest, own_seconds(speeds[std::size_t(position)], local, grid));
  }
  return slowest;
}

// Each further pair of sites goes to the slab that then takes least time: for times that grow with the width no other
// division has a faster slowest slab.
std::vector<int> balanced_direction(const SlabWidths& widths, int mu, int least, std::span<const RankSpeed> speeds) {
  const std::vector<int>& before = widths[std::size_t(mu)];
  int left = -least * int(before.size());
  for (const int width : before) left += width;
  std::vector<int> result(before.size(), least);
  std::vector<double> with_pair(before.size());
  const auto look = [&](std::size_t k) { with_pair[k] = slab_seconds(widths, mu, int(k), result[k] + 2, speeds); };
  for (std::size_t k = 0; k < before.size(); ++k) look(k);
  for (; left > 0; left -= 2) {
    const auto k = std::size_t(std::min_element(with_pair.begin(), with_pair.end()) - with_pair.begin());
    result[k] += 2;
    look(k);
  }
  return result;
}

}  // namespace

std::int64_t face_sites_of(const Extents& local, const Extents& grid) {
  std::int64_t sites = 0;
  for (int mu = 0; mu < 4; ++mu)
    if (grid[mu] > 1) sites += 2 * volume(local) / local[mu];
  return sites;
}

double own_seconds(const RankSpeed& speed, const Extents& local, const Extents& grid) {
  return speed.fixed + speed.per_site * double(volume(local)) +
         speed.per_face_site * double(face_sites_of(local, grid));
}

double slowest_seconds(const SlabWidths& widths, std::span<const RankSpeed> speeds) {
  double slowest = 0;
  for (int position = 0; position < int(speeds.size()); ++position)
    slowest = std::max(slowest,
                       own_seconds(speeds[std::size_t(position)], part_of_position(widths, position), grid_of(widths)));
  return slowest;
}

namespace {

// Takes `tried` where its slowest rank ends before `best` seconds, which becomes its time. Returns whether it did.
bool take_if_faster(SlabWidths& widths, double& best, const SlabWidths& tried, std::span<const RankSpeed> speeds) {
  const double seconds = slowest_seconds(tried, speeds);
  if (!(seconds < best)) return false;
  widths = tried;
  best = seconds;
  return true;
}

// Directions take turns until none gets better; direction `kept` stays as it is.
SlabWidths improved_by_direction(SlabWidths widths, int least, std::span<const RankSpeed> speeds, int kept = -1) {
  double best = slowest_seconds(widths, speeds);
  for (bool better = true; better;) {
    better = false;
    for (int mu = 0; mu < 4; ++mu) {
      if (mu == kept || widths[std::size_t(mu)].size() == 1) continue;
      SlabWidths tried = widths;
      tried[std::size_t(mu)] = balanced_direction(widths, mu, least, speeds);
      if (take_if_faster(widths, best, tried, speeds)) better = true;
    }
  }
  return widths;
}

// All widths that differ from these in one direction by any number of pairs of sites that go from one slab to another.
std::vector<std::pair<int, SlabWidths>> shifted_widths(const SlabWidths& widths, int least) {
  std::vector<std::pair<int, SlabWidths>> found;
  for (int mu = 0; mu < 4; ++mu) {
    const std::vector<int>& of = widths[std::size_t(mu)];
    for (std::size_t from = 0; from < of.size(); ++from)
      for (std::size_t to = 0; to < of.size(); ++to)
        for (int sites = 2; to != from && of[from] - sites >= least; sites += 2) {
          found.emplace_back(mu, widths);
          found.back().second[std::size_t(mu)][from] -= sites;
          found.back().second[std::size_t(mu)][to] += sites;
        }
  }
  return found;
}

// The best of these widths, and of those that one shift and turns of the other directions give, until none is better:
// exact for two slabs in each of two directions. Shifts are tried for so many ranks at most, for there are many.
constexpr std::size_t most_ranks_of_shifts = 32;
SlabWidths improved_widths(SlabWidths widths, int least, std::span<const RankSpeed> speeds) {
  widths = improved_by_direction(widths, least, speeds);
  const auto cut = std::count_if(widths.begin(), widths.end(), [](const auto& slabs) { return slabs.size() > 1; });
  if (cut < 2 || speeds.size() > most_ranks_of_shifts) return widths;  // one direction is exact already
  double best = slowest_seconds(widths, speeds);
  for (bool better = true; better;) {
    better = false;
    for (const auto& [mu, shifted] : shifted_widths(widths, least))
      if (take_if_faster(widths, best, improved_by_direction(shifted, least, speeds, mu), speeds)) better = true;
  }
  return widths;
}

// A slab has as much as the sites that its ranks can do in a second, together.
Shares shares_by_speed(const Extents& grid, std::span<const RankSpeed> speeds) {
  Shares shares;
  for (int mu = 0; mu < 4; ++mu) {
    std::vector<double>& of = shares.of[std::size_t(mu)];
    of.assign(std::size_t(grid[mu]), 0.0);
    for (int position = 0; position < int(speeds.size()); ++position)
      of[std::size_t(unravel(position, grid)[mu])] += 1 / speeds[std::size_t(position)].per_site;
  }
  return shares;
}

}  // namespace

SlabWidths balanced_widths(const Extents& global, const Extents& grid, int least, std::span<const RankSpeed> speeds) {
  const SlabWidths equal = improved_widths(slab_widths(global, grid, {}, least), least, speeds);
  const Shares by_speed = shares_by_speed(grid, speeds);
  const SlabWidths other = improved_widths(slab_widths(global, grid, by_speed, least), least, speeds);
  return slowest_seconds(other, speeds) < slowest_seconds(equal, speeds) ? other : equal;
}

BalancedCut balanced_cut(const Extents& global, const std::optional<Extents>& grid, int least,
                         std::span<const RankSpeed> speeds, std::span<const int> hosts, Mapping mapping) {
  std::vector<Extents> grids{grid.value_or(Extents{})};
  if (!grid) grids = process_grids(global, int(speeds.size()), least);
  BalancedCut best{{}, std::numeric_limits<double>::infinity()};
  for (const Extents& tried : grids) {
    const Placement placement = place_ranks(global, tried, hosts, mapping);
    std::vector<RankSpeed> by_position(speeds.size());
    for (std::size_t rank = 0; rank < speeds.size(); ++rank)
      by_position[std::size_t(placement.positions[rank])] = speeds[rank];
    const SlabWidths widths = balanced_widths(global, tried, least, by_position);
    if (const double seconds = slowest_seconds(widths, by_position); seconds < best.seconds) best = {widths, seconds};
  }
  if (best.widths[0].empty())
    throw Error(ErrorKind::layout, "shares", "a number of ranks that cuts " + to_string(global) + " into even slabs",
                std::to_string(speeds.size()) + " ranks");
  return best;
}

}  // namespace staghorn
