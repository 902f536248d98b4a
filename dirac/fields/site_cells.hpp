// The lattice in cells of 2^4 sites. The first site of a cell has even coordinates.
//
// Local lattices, and virtual nodes, have even extents and even origins, so no cut of the lattice divides a cell. A sum
// over one cell in a fixed order has therefore the same bits on every process grid and in every layout.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "dirac/fields/site_layout.hpp"

namespace staghorn {

// Where the sites of one parity lie, cell by cell. The places do not depend on the parity.
struct SiteCells {
  static constexpr int sites = 8;  // of one parity in a cell: one for each (y, z, t), in the order y, z, t

  explicit SiteCells(const SiteLayout& layout);  // Local.

  // Whether lane l of one block after the other holds one cell. Then `places` counts blocks, and each entry stands for
  // as many cells as a block has lanes. Otherwise `places` counts slots, and each entry stands for one cell.
  bool whole_blocks;
  std::int64_t count;                // entries
  std::vector<std::int32_t> places;  // [entry][site of the cell]
  // places[entry][s] - places[entry][0], the same for all entries of a layout of one block.
  std::array<std::int32_t, sites> offsets{};
};

}  // namespace staghorn
