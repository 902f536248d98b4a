// Where a site of the local lattice lives in the fields of the kernels. One formula serves CPU and GPU: blocks of V
// lanes, and within a block the n reals of an object (6 of a colour vector, 8, 12 or 18 of a link) in words of W reals
// that stay together:
//
//   offset(block, real k, lane) = block n V + (k - k mod W) V + lane min(W, n - k + k mod W) + k mod W
//
// (A last word of less than W reals is cut further where its length is no power of two, and so no word of the machine.)
// On the CPU W = 1 and V is the width of a vector register. Where the local extents allow it, the lattice is cut into V
// equal sub-lattices ("virtual nodes"), one lane each: the neighbours of a whole block are then another whole block,
// with the lanes permuted at the rim only. Extents that do not split V-fold (each sub-extent must be even) use
// consecutive checkerboard sites as lanes and gather neighbours lane by lane: any even extents run, some slower.
// On the GPU one block holds all sites of a parity in checkerboard order, with up to 64 + 0.1 % of padding, and W is 16
// bytes. In fp16 a vector counts as n = 8 int16, and its unit as the last of 4 floats (dirac/algebra/fixed_point.hpp).
// The values computed at a site never depend on the layout.
#pragma once

#include <bit>
#include <cstdint>

#include "halo/lattice.hpp"

namespace staghorn {

// A place in a field of one parity: block * V + lane.
using Slot = std::int32_t;

class SiteLayout {
 public:
  // `lanes` is a power of two, at most 16, or one_block. Local.
  static constexpr int one_block = 0;
  SiteLayout(const Lattice& lattice, int lanes);

  const Lattice& lattice() const { return lattice_; }
  int lanes() const { return lanes_; }
  int blocks() const { return blocks_; }  // per parity; the last may hold lanes without a site
  // The place of real k of an object within its block, on the CPU.
  std::int64_t offset_in_block(int lane, int k) const { return std::int64_t{k} * lanes_ + lane; }
  // The same for an object of n reals, in words of `word` reals.
  static constexpr std::int64_t offset_in_words(std::int64_t V, std::int64_t lane, int k, int n, int word) {
    int first = k / word * word, width = word < n - first ? word : n - first;
    for (; (width & (width - 1)) != 0; width = n - first) {
      const int longest = int(std::bit_floor(unsigned(width)));
      if (k < first + longest) return first * V + lane * longest + (k - first);
      first += longest;
    }
    return first * V + lane * width + (k - first);
  }
  bool virtual_nodes() const { return virtual_nodes_; }
  const Extents& lane_grid() const { return lane_grid_; }  // how often each direction is cut into virtual nodes
  const Extents& lane_extents() const { return sub_; }     // of one virtual node

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
