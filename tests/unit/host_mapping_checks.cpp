// Which rank holds which part of the process grid: hosts hold the boxes that leave the least face area between hosts.
#include <algorithm>
#include <cstdio>
#include <numeric>

#include "halo/host_mapping.hpp"
#include "solver/bench/benchmark_scaling.hpp"
#include "tests/unit/unit_checks.hpp"

namespace staghorn {

namespace {

struct Case {
  Extents global, grid;
};
constexpr Case cases[] = {{{16, 4, 2, 2}, {8, 2, 1, 1}},  {{8, 8, 12, 16}, {2, 2, 2, 2}},
                          {{8, 8, 12, 16}, {1, 4, 2, 2}}, {{16, 16, 16, 32}, {2, 2, 2, 4}},
                          {{24, 4, 8, 12}, {6, 1, 2, 3}}, {{4, 6, 8, 10}, {1, 3, 2, 5}}};

// Whether `grid` cuts `global` into equal local lattices of even extents.
bool cuts_evenly(const Extents& global, const Extents& grid) {
  for (int mu = 0; mu < 4; ++mu)
    if (global[mu] % (2 * grid[mu]) != 0) return false;
  return true;
}

std::vector<int> consecutive(std::int64_t ranks, int per_host) {
  std::vector<int> hosts(std::size_t(ranks), 0);
  for (std::size_t rank = 0; rank < hosts.size(); ++rank) hosts[rank] = int(rank) / per_host;
  return hosts;
}

// The share of face sites that stay within hosts, counted pair by pair.
double counted_share(const Case& c, const std::vector<int>& host_of) {
  double within = 0, all = 0;
  for (int position = 0; position < int(host_of.size()); ++position) {
    const Lattice lattice(c.global, c.grid, position);
    for (int mu = 0; mu < 4; ++mu)
      for (const int direction : {+1, -1}) {
        if (c.grid[mu] == 1) continue;
        const double face = double(lattice.local_volume()) / lattice.local()[mu];
        all += face;
        if (host_of[std::size_t(lattice.neighbour_rank(mu, direction))] == host_of[std::size_t(position)])
          within += face;
      }
  }
  return within / all;
}

bool placements_are_permutations_that_keep_rank_0() {
  for (const Case& c : cases)
    for (int per_host = 1; per_host <= volume(c.grid); ++per_host)
      for (const Mapping mapping : {Mapping::host, Mapping::natural, Mapping::reversed}) {
        const std::vector<int> hosts = consecutive(volume(c.grid), per_host);
        const Placement placement = place_ranks(c.global, c.grid, hosts, mapping);
        std::vector<int> sorted = placement.positions;
        std::sort(sorted.begin(), sorted.end());
        for (int k = 0; k < int(sorted.size()); ++k)
          if (!CHECK(sorted[std::size_t(k)] == k)) return false;
        if (!CHECK(placement.positions[0] == 0) || !CHECK(placement.hosts == hosts.back() + 1)) return false;
        for (std::size_t rank = 0; rank < hosts.size(); ++rank)
          if (!CHECK(placement.host_of[std::size_t(placement.positions[rank])] == hosts[rank])) return false;
        const bool equal = volume(c.grid) % per_host == 0;
        if (!CHECK(placement.mapping == (mapping == Mapping::host && !equal ? Mapping::natural : mapping)))
          return false;
      }
  return true;
}

bool hosts_hold_the_boxes_with_most_area_within() {
  for (const Case& c : cases)
    for (int per_host = 1; per_host <= volume(c.grid); ++per_host) {
      if (volume(c.grid) % per_host != 0) continue;
      double most = 0;
      Extents box;
      for (box[0] = 1; box[0] <= c.grid[0]; ++box[0])
        for (box[1] = 1; box[1] <= c.grid[1]; ++box[1])
          for (box[2] = 1; box[2] <= c.grid[2]; ++box[2])
            for (box[3] = 1; box[3] <= c.grid[3]; ++box[3]) {
              bool divides = volume(box) == per_host;
              for (int mu = 0; mu < 4; ++mu) divides = divides && c.grid[mu] % box[mu] == 0;
              if (!divides) continue;
              std::vector<int> host_of;
              for (int position = 0; position < volume(c.grid); ++position) {
                const Coordinates x = unravel(position, c.grid);
                int host = 0;
                for (int mu = 3; mu >= 0; --mu) host = host * (c.grid[mu] / box[mu]) + x[mu] / box[mu];
                host_of.push_back(host);
              }
              most = std::max(most, counted_share(c, host_of));
            }
      const Placement found = place_ranks(c.global, c.grid, consecutive(volume(c.grid), per_host), Mapping::host);
      const double share = counted_share(c, found.host_of);
      if (std::abs(share - most) < 1e-12 && std::abs(share - found.share_within_hosts) < 1e-12) continue;
      std::printf("%s, grid %s, %d ranks a host: %g of the area within, %g reported, %g possible\n",
                  to_string(c.global).c_str(), to_string(c.grid).c_str(), per_host, share, found.share_within_hosts,
                  most);
      return false;
    }
  return true;
}

// The case is the picture in halo/README.md.
bool eight_by_two_ranks_on_four_hosts() {
  const std::vector<int> hosts = consecutive(16, 4);
  const Case& c = cases[0];
  return CHECK(place_ranks(c.global, c.grid, hosts, Mapping::natural).share_within_hosts == 3.0 / 8) &&
         CHECK(place_ranks(c.global, c.grid, hosts, Mapping::host).share_within_hosts == 6.0 / 8) &&
         CHECK((place_ranks(c.global, c.grid, hosts, Mapping::host).host_of ==
                std::vector<int>{0, 0, 1, 1, 2, 2, 3, 3, 0, 0, 1, 1, 2, 2, 3, 3}));
}

// Some grids of 4x4x12x8 on 6 ranks have equal surfaces: 3 x 2 in z and t, and 6 in z, where 3 ranks a host share less.
bool process_grid_leaves_least_area_between_hosts() {
  bool hosts_mattered = false;
  for (const Extents& global : {Extents{16, 16, 16, 16}, {8, 8, 12, 16}, {16, 8, 4, 32}, {4, 4, 12, 8}})
    for (const int ranks : {4, 6, 8, 16, 32, 64})
      for (const int per_host : {2, 3, 4, 8}) {
        if (ranks % per_host != 0 || volume(global) / 16 % ranks != 0) continue;
        const std::vector<int> hosts = consecutive(ranks, per_host);
        const auto between = [&](const Extents& grid) {  // sites of each rank, on average, that leave its host
          const Lattice lattice(global, grid, 0);
          double area = 0;
          for (int mu = 0; mu < 4; ++mu)
            if (grid[mu] > 1) area += 2 * double(lattice.local_volume()) / lattice.local()[mu];
          return std::pair{area, area * (1 - place_ranks(global, grid, hosts, Mapping::host).share_within_hosts)};
        };
        const auto found = between(choose_process_grid(global, ranks, per_host));
        const auto without_hosts = between(choose_process_grid(global, ranks));
        if (!CHECK(found.first == without_hosts.first) || !CHECK(found.second <= without_hosts.second + 1e-9))
          return false;
        hosts_mattered = hosts_mattered || found.second < without_hosts.second - 1e-9;
        for (int x = 1; x <= ranks; ++x)
          for (int y = 1; x * y <= ranks; ++y)
            for (int z = 1; x * y * z <= ranks; ++z) {
              const Extents grid{x, y, z, ranks / (x * y * z)};
              if (volume(grid) != ranks || !cuts_evenly(global, grid)) continue;
              const auto other = between(grid);
              if (other.first == found.first && !CHECK(other.second >= found.second - 1e-9)) return false;
            }
      }
  return CHECK(hosts_mattered);
}

bool weak_series_lengthen_the_shortest_direction() {
  using Counts = std::vector<int>;
  return CHECK(rank_counts(1) == Counts{1}) && CHECK(rank_counts(8) == Counts{1, 2, 4, 8}) &&
         CHECK(rank_counts(6) == Counts{1, 2, 4, 6}) && CHECK(weak_grid({8, 8, 8, 8}, 1) == Extents{1, 1, 1, 1}) &&
         CHECK(weak_grid({8, 8, 8, 8}, 8) == Extents{1, 2, 2, 2}) &&
         CHECK(weak_grid({8, 8, 8, 8}, 12) == Extents{1, 2, 2, 3}) &&
         CHECK(weak_grid({32, 32, 32, 16}, 4) == Extents{1, 1, 1, 4}) &&
         CHECK(weak_grid({4, 4, 4, 32}, 4) == Extents{1, 2, 2, 1}) &&
         CHECK(weak_grid({4, 4, 4, 32}, 8, {false, false, false, true}) == Extents{1, 1, 1, 8}) &&
         CHECK(weak_grid({8, 8, 8, 8}, 8, {true, false, true, false}) == Extents{2, 1, 4, 1});
}

}  // namespace

std::vector<UnitCheck> host_mapping_checks() {
  return {
      UNIT_CHECK(placements_are_permutations_that_keep_rank_0),
      UNIT_CHECK(hosts_hold_the_boxes_with_most_area_within),
      UNIT_CHECK(eight_by_two_ranks_on_four_hosts),
      UNIT_CHECK(process_grid_leaves_least_area_between_hosts),
      UNIT_CHECK(weak_series_lengthen_the_shortest_direction),
  };
}

}  // namespace staghorn
