// Where a site of the local lattice lives in the fields of the kernels: blocks of V lanes, per parity.
//
//   offset(block, component, lane) = (block * n_components + component) * V + lane
//
// Where the local extents allow it, the lattice is cut into V equal sub-lattices ("virtual nodes"), one lane each: the
// neighbours of a whole block are then another whole block, with the lanes permuted at the rim only. Extents that do
// not split V-fold (each sub-extent must be even) use consecutive checkerboard sites as lanes and gather neighbours
// lane by lane: any even extents run, some slower. The values computed at a site never depend on the layout.
#pragma once

#include <cstdint>

#include "halo/lattice.hpp"

namespace staghorn {

// A place in a field of one parity: block * V + lane.
using Slot = std::int32_t;

class SiteLayout {
 public:
  // `lanes` is a power of two, at most 16. Local.
  SiteLayout(const Lattice& lattice, int lanes);

  const Lattice& lattice() const { return lattice_; }
  int lanes() const { return lanes_; }
  int blocks() const { return blocks_; }  // per parity; the last may hold lanes without a site
  bool virtual_nodes() const { return virtual_nodes_; }

  // The slot of a local site among the sites of its parity.
  Slot slot(const Coordinates& x) const;
  // The site of a slot; false for a lane that pads the last block.
  bool site(Parity parity, Slot slot, Coordinates& x) const;

 private:
  Lattice lattice_;
  int lanes_;
  int blocks_ = 0;
  bool virtual_nodes_ = false;
  Extents lane_grid_{1, 1, 1, 1};
  Extents sub_{};  // extents of one lane's sub-lattice
  int z_tile_ =
      1;  // blocks are ordered x, y, z within a tile, t, tiles of z: hops in t then find their vectors in cache
};

}  // namespace staghorn
