#include "halo/host_mapping.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <tuple>

#include "halo/named_choice.hpp"
#include "halo/watch/error.hpp"

namespace staghorn {

namespace {

constexpr NamedChoice<Mapping, 3> mappings{
    "mapping", {{{Mapping::host, "host"}, {Mapping::natural, "natural"}, {Mapping::reversed, "reversed"}}}};

// Sites on all faces in direction mu, to one side, of all ranks: each cut crosses the whole lattice.
std::int64_t face_area(const Extents& global, const Extents& grid, int mu) {
  return grid[mu] > 1 ? volume(global) / global[mu] * grid[mu] : 0;
}

// Sites on all faces that have to travel, of all ranks, to both sides.
std::int64_t face_area(const Extents& global, const Extents& grid) {
  std::int64_t area = 0;
  for (int mu = 0; mu < 4; ++mu) area += 2 * face_area(global, grid, mu);
  return area;
}

// A measure of the faces that travel within a host which holds `box`: their sites times the number of ranks, for slabs
// of equal widths. If the box does not span the grid, the last rank of a row has no neighbour on the same host.
std::int64_t area_within(const Extents& global, const Extents& grid, const Extents& box) {
  std::int64_t area = 0;
  for (int mu = 0; mu < 4; ++mu) {
    const std::int64_t neighbours = box[mu] == grid[mu] ? box[mu] : box[mu] - 1;
    area += 2 * face_area(global, grid, mu) * neighbours * (volume(box) / box[mu]);
  }
  return area;
}

// Sites of the largest part, with equal shares: the first slabs are the widest.
std::int64_t largest_part(const Extents& global, const Extents& grid) {
  return Lattice(global, grid, 0).local_volume();
}

int index_of(const Coordinates& x, const Extents& e) { return x[0] + e[0] * (x[1] + e[1] * (x[2] + e[2] * x[3])); }

// Position of the k-th rank of a host; hosts fill the grid of boxes, ranks a box, x fastest.
int position_in_box(const Extents& grid, const Extents& box, int host, int k) {
  Extents boxes{};
  for (int mu = 0; mu < 4; ++mu) boxes[mu] = grid[mu] / box[mu];
  const Coordinates outer = unravel(host, boxes), inner = unravel(k, box);
  Coordinates x{};
  for (int mu = 0; mu < 4; ++mu) x[mu] = outer[mu] * box[mu] + inner[mu];
  return index_of(x, grid);
}

int reversed_position(const Extents& grid, int rank) {
  const Coordinates x = unravel(rank, {grid[3], grid[2], grid[1], grid[0]});
  return index_of({x[3], x[2], x[1], x[0]}, grid);
}

double share_within_hosts(const SlabWidths& widths, std::span<const int> host_of) {
  std::int64_t within = 0, all = 0;
  for (int position = 0; position < int(host_of.size()); ++position) {
    const Lattice lattice(widths, position);
    for (int mu = 0; mu < 4; ++mu)
      for (const int direction : {+1, -1}) {
        if (lattice.grid()[mu] == 1) continue;
        const std::int64_t face = lattice.local_volume() / lattice.local()[mu];
        all += face;
        if (host_of[lattice.neighbour_rank(mu, direction)] == host_of[position]) within += face;
      }
  }
  return all == 0 ? 1 : double(within) / double(all);
}

}  // namespace

std::string to_string(Mapping mapping) { return mappings.name(mapping); }
Mapping parse_mapping(const std::string& text) { return mappings.parse(text); }

std::vector<Extents> process_grids(const Extents& global, int n_ranks, int least_extent) {
  std::vector<Extents> grids;
  for (int t = n_ranks; t >= 1; --t)
    for (int z = n_ranks / t; z >= 1 && n_ranks % t == 0; --z)
      for (int y = n_ranks / t / z; y >= 1 && n_ranks / t % z == 0; --y) {
        const Extents grid{n_ranks / t / z / y, y, z, t};
        if (n_ranks / t / z % y == 0 && can_be_cut(global, grid, least_extent)) grids.push_back(grid);
      }
  return grids;
}

Extents choose_process_grid(const Extents& global, int n_ranks, int ranks_per_host, int least_extent,
                            const Extents& wanted) {
  const bool hosts_matter = ranks_per_host > 0 && n_ranks % ranks_per_host == 0;
  constexpr std::int64_t none = std::numeric_limits<std::int64_t>::max();
  Extents best{};
  std::int64_t best_part = none, best_area = none, best_within = 0;
  for (const Extents& grid : process_grids(global, n_ranks, least_extent)) {
    bool fits = true;
    for (int mu = 0; mu < 4; ++mu) fits &= wanted[mu] == 0 || wanted[mu] == grid[mu];
    if (!fits) continue;
    const std::int64_t part = largest_part(global, grid), area = face_area(global, grid);
    if (std::tie(part, area) > std::tie(best_part, best_area)) continue;
    const std::int64_t within =
        hosts_matter ? area_within(global, grid, choose_host_box(global, grid, ranks_per_host)) : 0;
    if (part == best_part && area == best_area && within <= best_within) continue;
    best = grid;
    best_part = part;
    best_area = area;
    best_within = within;
  }
  if (best_part == none) {
    std::string cut = "a number of ranks that cuts " + to_string(global) + " into even local extents";
    if (least_extent > 2) cut += " of at least " + std::to_string(least_extent);
    for (int mu = 0; mu < 4; ++mu)
      if (wanted[mu] > 0) cut += std::string(", ") + "xyzt"[mu] + " into " + std::to_string(wanted[mu]);
    throw Error(ErrorKind::layout, "process grid", cut, std::to_string(n_ranks) + " ranks");
  }
  return best;
}

Extents choose_host_box(const Extents& global, const Extents& grid, int ranks_per_host) {
  Extents best{1, 1, 1, 1};
  std::int64_t best_within = -1;
  for (int x = grid[0]; x >= 1; --x)
    for (int y = grid[1]; y >= 1 && grid[0] % x == 0; --y)
      for (int z = grid[2]; z >= 1 && grid[1] % y == 0; --z) {
        if (grid[2] % z != 0 || ranks_per_host % (x * y * z) != 0) continue;
        const Extents box{x, y, z, ranks_per_host / (x * y * z)};
        if (grid[3] % box[3] != 0) continue;
        const std::int64_t within = area_within(global, grid, box);
        if (within > best_within) {
          best = box;
          best_within = within;
        }
      }
  if (best_within < 0)
    throw Error("host mapping", "a number of ranks on each host that divides grid " + to_string(grid), ranks_per_host);
  return best;
}

int ranks_per_host(std::span<const int> hosts) {
  std::vector<int> ranks;
  for (const int host : hosts) {
    if (host >= int(ranks.size())) ranks.resize(std::size_t(host) + 1);
    ++ranks[std::size_t(host)];
  }
  const bool equal = std::adjacent_find(ranks.begin(), ranks.end(), std::not_equal_to<>()) == ranks.end();
  return equal && !ranks.empty() ? ranks.front() : 0;
}

std::string describe(const Placement& placement) {
  return std::to_string(placement.hosts) + (placement.hosts == 1 ? " host" : " hosts") + ", mapping " +
         to_string(placement.mapping) + ": " + std::to_string(std::lround(100 * placement.share_within_hosts)) +
         " % of the face area stays within hosts";
}

Placement place_ranks(const Extents& global, const Extents& grid, std::span<const int> hosts, Mapping mapping) {
  return place_ranks(Lattice(global, grid, 0).widths(), hosts, mapping);
}

Placement place_ranks(const SlabWidths& widths, std::span<const int> hosts, Mapping mapping) {
  const Lattice first(widths, 0);
  const Extents &global = first.global(), &grid = first.grid();
  if (volume(grid) != std::int64_t(hosts.size()))
    throw Error(ErrorKind::layout, "process grid", std::to_string(hosts.size()) + " ranks", "grid " + to_string(grid));
  Placement placement;
  const int per_host = ranks_per_host(hosts);
  placement.mapping = mapping == Mapping::host && per_host == 0 ? Mapping::natural : mapping;
  placement.hosts = *std::max_element(hosts.begin(), hosts.end()) + 1;
  placement.positions.resize(hosts.size());
  placement.host_of.resize(hosts.size());
  const Extents box = per_host > 0 ? choose_host_box(global, grid, per_host) : grid;
  std::vector<int> placed(std::size_t(placement.hosts));  // ranks of each host
  for (int rank = 0; rank < int(hosts.size()); ++rank) {
    const int host = hosts[rank];
    int& position = placement.positions[rank];
    switch (placement.mapping) {
      case Mapping::host:
        position = position_in_box(grid, box, host, placed[host]++);
        break;
      case Mapping::natural:
        position = rank;
        break;
      case Mapping::reversed:
        position = reversed_position(grid, rank);
        break;
    }
    placement.host_of[position] = host;
  }
  placement.share_within_hosts = share_within_hosts(widths, placement.host_of);
  return placement;
}

}  // namespace staghorn
