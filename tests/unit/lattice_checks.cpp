// Where sites live: the process grid, and the slots of sites in blocks of lanes.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>
#include <limits>
#include <numeric>

#include "dirac/fields/site_layout.hpp"
#include "dirac/fields/step.hpp"
#include "halo/host_mapping.hpp"
#include "halo/lattice.hpp"
#include "halo/watch/error.hpp"
#include "tests/unit/unit_checks.hpp"

namespace staghorn {

namespace {

// Sites of the largest part, and how many sites all ranks send. Of slabs of nearly equal even widths the widest has
// ceil(pairs / slabs) pairs of sites.
using PartAndSurface = std::pair<std::int64_t, std::int64_t>;
constexpr PartAndSurface no_cut{std::numeric_limits<std::int64_t>::max(), 0};
PartAndSurface part_and_surface(const Extents& global, const Extents& grid) {
  std::int64_t part = 1, area = 0;
  for (int mu = 0; mu < 4; ++mu) {
    const int pairs = global[mu] / 2;
    if (grid[mu] > pairs) return no_cut;
    part *= 2 * ((pairs + grid[mu] - 1) / grid[mu]);
    if (grid[mu] > 1) area += 2 * volume(global) / global[mu] * grid[mu];
  }
  return {part, area};
}

bool process_grid_has_the_smallest_part_and_then_surface() {
  for (const Extents& global : {Extents{8, 8, 8, 16}, {4, 6, 8, 10}, {16, 8, 4, 32}, {12, 12, 12, 12}, {2, 24, 2, 2}})
    for (int ranks = 1; ranks <= 24; ++ranks) {
      PartAndSurface least = no_cut;
      for (int x = 1; x <= ranks; ++x)
        for (int y = 1; x * y <= ranks; ++y)
          for (int z = 1; x * y * z <= ranks; ++z) {
            const Extents grid{x, y, z, ranks / (x * y * z)};
            if (volume(grid) == ranks) least = std::min(least, part_and_surface(global, grid));
          }
      try {
        const Extents grid = choose_process_grid(global, ranks);
        if (volume(grid) == ranks && part_and_surface(global, grid) == least) continue;
        std::printf("%s, %d ranks: grid %s\n", to_string(global).c_str(), ranks, to_string(grid).c_str());
        return false;
      } catch (const std::exception&) {
        if (least == no_cut) continue;
        std::printf("%s, %d ranks: no grid, one with parts of %ld sites exists\n", to_string(global).c_str(), ranks,
                    long(least.first));
        return false;
      }
    }
  return true;
}

// Widths are even and fill the direction; each is the share rounded down or up to an even number, unless the least
// width moves it. Equal shares are equal where they can be.
bool widths_are_the_nearest_to_the_shares() {
  RandomStream random(3, RandomPurpose::gaussian_noise, 0, 0);
  int clamped = 0, tried = 0;
  for (int trial = 0; trial < 2000; ++trial) {
    const int slabs = 1 + int(random.uniform() * 8), least = random.uniform() < 0.5 ? 2 : 4;
    const int extent = slabs * least + 2 * int(random.uniform() * 40);
    std::vector<double> shares;
    for (int k = 0; k < slabs; ++k) shares.push_back(std::exp(6 * random.uniform() - 3));
    const std::vector<int> widths = slab_widths(extent, shares, least);
    const double sum = std::accumulate(shares.begin(), shares.end(), 0.0);
    if (!CHECK(std::accumulate(widths.begin(), widths.end(), 0) == extent)) return false;
    bool moved = false;
    for (const double share : shares) moved |= share / sum * extent < least;
    for (int k = 0; k < slabs; ++k) {
      if (!CHECK(widths[k] % 2 == 0) || !CHECK(widths[k] >= least)) return false;
      if (!moved && !CHECK(std::fabs(widths[k] - shares[k] / sum * extent) < 2)) return false;
      for (int l = 0; l < slabs; ++l)
        if (shares[k] > shares[l] && !CHECK(widths[k] >= widths[l])) return false;
    }
    clamped += moved;
    ++tried;
  }
  std::printf("%d sets of shares, %d with a slab of the least width\n", tried, clamped);
  const double thirds[] = {1, 1, 1}, quarters[] = {3, 1}, tenths[] = {0.1, 0.2, 0.3, 0.4};
  return CHECK(clamped > 100) && CHECK(tried - clamped > 100) &&
         CHECK((slab_widths(32, thirds) == std::vector<int>{12, 10, 10})) &&
         CHECK((slab_widths(12, thirds, 4) == std::vector<int>{4, 4, 4})) &&
         CHECK((slab_widths(32, quarters) == std::vector<int>{24, 8})) &&
         CHECK((slab_widths(4, quarters) == std::vector<int>{2, 2})) &&
         CHECK((slab_widths(40, tenths) == std::vector<int>{4, 8, 12, 16}));
}

bool shares_are_read_and_refused() {
  for (const char* text : {"even", "t=3:1", "x=1:2,t=3:1:1", "z=0.25:1000.5"})
    if (!CHECK(to_string(parse_shares(text)) == text)) return false;
  for (const char* text : {"", "auto", "3:", ":1", "0:1", "-1:2", "t=", "u=1:2", "t=1:2,t=1:1", "3:1,", "inf:1",
                           "nan:1", "tx=1:2", "3:1 ", "1;2"}) {
    try {
      parse_shares(text);
      std::printf("'%s' was taken\n", text);
      return false;
    } catch (const Error&) {
    }
  }
  return CHECK(to_string(parse_shares("3:1")) == "t=3:1");
}

// Every site has one owner, who finds it, and both sides of a cut have faces of the same size.
bool parts_of_unequal_slabs_cover_the_lattice() {
  const SlabWidths widths{{{2, 6}, {4}, {2, 4, 2}, {6, 2}}};
  std::vector<int> owners(8 * 4 * 8 * 8, 0);
  for (int rank = 0; rank < 12; ++rank) {
    const Lattice lattice(widths, rank);
    if (!CHECK((lattice.global() == Extents{8, 4, 8, 8})) || !CHECK((lattice.grid() == Extents{2, 1, 3, 2})))
      return false;
    for (std::int64_t site = 0; site < lattice.local_volume(); ++site) {
      const Coordinates x = lattice.site_coordinates(site), at = lattice.to_global(x);
      ++owners[std::size_t(lattice.global_site_index(at))];
      if (!CHECK(Lattice::parity_of(x) == Lattice::parity_of(at))) return false;
      for (int mu = 0; mu < 4; ++mu)
        if (!CHECK(lattice.slab_of(mu, at[mu]) == lattice.grid_coordinates()[mu])) return false;
    }
    for (int mu = 0; mu < 4; ++mu)
      for (const int direction : {+1, -1}) {
        const Lattice there = lattice.of_rank(lattice.neighbour_rank(mu, direction));
        if (!CHECK(there.local_volume() / there.local()[mu] == lattice.local_volume() / lattice.local()[mu]))
          return false;
        const int edge =
            (lattice.origin()[mu] + (direction > 0 ? lattice.local()[mu] : -there.local()[mu])) - there.origin()[mu];
        if (!CHECK(edge % lattice.global()[mu] == 0)) return false;
      }
  }
  return CHECK(std::count(owners.begin(), owners.end(), 1) == std::ptrdiff_t(owners.size()));
}

constexpr Extents layouts_tried[] = {{2, 2, 2, 2},   {2, 2, 2, 4},     {4, 6, 8, 10},  {10, 8, 6, 4},
                                     {6, 6, 6, 6},   {12, 12, 12, 12}, {8, 8, 4, 4},   {16, 4, 2, 8},
                                     {2, 2, 2, 128}, {64, 2, 2, 2},    {16, 16, 24, 4}};

// Runs `holds` for every layout. Stops at the first layout for which the property does not hold, and prints this
// layout.
template <class Property>
bool for_every_layout(const Property& holds) {
  int tried = 0, virtual_nodes = 0;
  for (const Extents& extents : layouts_tried)
    for (const int lanes : {1, 2, 4, 8, 16, SiteLayout::one_block})
      for (int cut = 0; cut < 16; ++cut) {
        const std::array<bool, 4> loopback{bool(cut & 1), bool(cut & 2), bool(cut & 4), bool(cut & 8)};
        const SiteLayout layout(Lattice(extents, {1, 1, 1, 1}, 0, loopback), lanes);
        ++tried;
        virtual_nodes += layout.virtual_nodes();
        if (holds(layout)) continue;
        std::printf("%s, %d lanes, cut %x\n", to_string(extents).c_str(), lanes, cut);
        return false;
      }
  std::printf("%d layouts, %d with virtual nodes\n", tried, virtual_nodes);
  return true;
}

// slot() and site() are inverse. Every slot is taken once. A lane that pads the last block has no site.
bool slots_and_sites_are_one_to_one() {
  return for_every_layout([](const SiteLayout& layout) {
    const Lattice& lattice = layout.lattice();
    const std::int64_t slots = std::int64_t{layout.blocks()} * layout.lanes(), sites = lattice.local_volume() / 2;
    if (!CHECK(slots >= sites) || !CHECK(slots < sites + layout.lanes())) return false;
    for (const Parity parity : {Parity::even, Parity::odd}) {
      Coordinates x;
      for (Slot slot = 0; slot < slots; ++slot) {
        if (!CHECK(layout.site(parity, slot, x) == (slot < sites))) return false;
        if (slot < sites && (!CHECK(layout.slot(x) == slot) || !CHECK(Lattice::parity_of(x) == parity))) return false;
      }
      for (std::int64_t site = 0; site < lattice.local_volume(); ++site) {
        const Coordinates expected = lattice.site_coordinates(site);
        if (Lattice::parity_of(expected) != parity) continue;
        if (!CHECK(layout.site(parity, layout.slot(expected), x)) || !CHECK(x == expected)) return false;
      }
    }
    return true;
  });
}

// Virtual nodes exist for this: the neighbours of all lanes of a block lie in one block.
bool neighbours_of_virtual_nodes_share_a_block() {
  return for_every_layout([](const SiteLayout& layout) {
    if (!layout.virtual_nodes()) return true;
    const Extents& extents = layout.lattice().local();
    for (Slot slot = 0; slot < layout.blocks() * layout.lanes(); slot += layout.lanes())
      for (int hop = 0; hop < 8; ++hop) {
        const auto block_of_neighbour = [&](int lane) {
          Coordinates x;
          layout.site(Parity::odd, slot + lane, x);
          int& moved = x[hop / 2];
          moved = (moved + (hop % 2 == 0 ? 1 : extents[hop / 2] - 1)) % extents[hop / 2];
          return layout.slot(x) / layout.lanes();
        };
        for (int lane = 1; lane < layout.lanes(); ++lane)
          if (!CHECK(block_of_neighbour(lane) == block_of_neighbour(0))) return false;
      }
    return true;
  });
}

// Every real of every lane has a place of its own within the block, and a word of reals stays together.
bool reals_of_a_block_are_one_to_one() {
  for (const int word : {1, 2, 4, 8})
    for (const int lanes : {1, 4, 16, 80})
      for (const int reals : {6, 8, 9, 12, 13, 18}) {
        const int rest = reals % word, whole_words = std::has_single_bit(unsigned(rest)) ? reals : reals - rest;
        std::vector<bool> taken(std::size_t(reals * lanes));
        for (int lane = 0; lane < lanes; ++lane)
          for (int k = 0; k < reals; ++k) {
            const std::int64_t offset = SiteLayout::offset_in_words(lanes, lane, k, reals, word);
            if (!CHECK(offset >= 0) || !CHECK(offset < taken.size()) || !CHECK(!taken[offset])) return false;
            taken[offset] = true;
            if (k % word != 0 && k < whole_words &&
                !CHECK(offset == SiteLayout::offset_in_words(lanes, lane, k - 1, reals, word) + 1))
              return false;
          }
      }
  return true;
}

// Hops of so many steps, by arithmetic on the index of a site among those of its parity.
template <int steps>
bool hops_end_at(const SiteLayout& layout, const Coordinates& x) {
  const Extents& extents = layout.lattice().local();
  int stride = 1;
  for (int mu = 0; mu < 4; stride *= mu == 0 ? extents[0] / 2 : extents[mu], ++mu)
    for (const bool forward : {true, false}) {
      const int beyond = x[mu] + (forward ? steps : -steps), extent = extents[mu];
      const bool leaves = beyond < 0 || beyond >= extent;
      Coordinates y = x;
      y[mu] = (beyond + extent) % extent;
      const Slot slot = layout.slot(x);
      const Slot found = mu == 0 ? stepped_along_x<steps>(slot, x[0], extent, forward, leaves)
                                 : stepped<steps>(slot, stride, extent, forward, leaves);
      if (!CHECK(wraps<steps>(x[mu], extent, forward) == leaves) || !CHECK(found == layout.slot(y))) return false;
      if (leaves && !CHECK(slice_beyond(x[mu], extent, forward, steps) == (forward ? y[mu] : extent - 1 - y[mu])))
        return false;
    }
  return true;
}

bool hops_are_found_by_arithmetic() {
  for (const Extents& extents : {Extents{4, 4, 4, 4}, {4, 6, 8, 10}, {8, 4, 6, 4}}) {
    const Lattice lattice(extents, {1, 1, 1, 1}, 0);
    const SiteLayout layout(lattice, SiteLayout::one_block);
    for (std::int64_t site = 0; site < lattice.local_volume(); ++site) {
      const Coordinates x = lattice.site_coordinates(site);
      if (!hops_end_at<1>(layout, x) || !hops_end_at<3>(layout, x)) return false;
    }
  }
  return true;
}

}  // namespace

std::vector<UnitCheck> lattice_checks() {
  return {
      UNIT_CHECK(process_grid_has_the_smallest_part_and_then_surface),
      UNIT_CHECK(widths_are_the_nearest_to_the_shares),
      UNIT_CHECK(shares_are_read_and_refused),
      UNIT_CHECK(parts_of_unequal_slabs_cover_the_lattice),
      UNIT_CHECK(slots_and_sites_are_one_to_one),
      UNIT_CHECK(reals_of_a_block_are_one_to_one),
      UNIT_CHECK(hops_are_found_by_arithmetic),
      UNIT_CHECK(neighbours_of_virtual_nodes_share_a_block),
  };
}

}  // namespace staghorn
