// The rule of widths: how a direction of the lattice is cut into slabs of even widths, by shares. It stands here once.
// Pure functions; no communication.
//
// Widths are even, so the parity of a site is the same in local and global coordinates. A slab gets the even width
// nearest to its share: first the whole pairs of its share, then the pairs that are left go to the largest remainders,
// and among equal remainders to the first slabs [Hamilton's method of largest remainders]. Equal shares of 32 sites
// among 3 slabs are 12, 10, 10. A slab whose share is below the least width has the least width; the others divide what
// is left.
#pragma once

#include <array>
#include <span>
#include <string>
#include <vector>

namespace staghorn {

using Extents = std::array<int, 4>;

// By direction x, y, z, t: the widths of the slabs, in sites, in the order of the process grid.
using SlabWidths = std::array<std::vector<int>, 4>;

// How much of a direction each slab is to have.
struct Shares {
  // By direction, one positive number for each slab; only ratios count. Empty: equal shares.
  std::array<std::vector<double>, 4> of;

  bool given(int mu) const { return !of[std::size_t(mu)].empty(); }
  bool any() const { return given(0) || given(1) || given(2) || given(3); }
};

// "even"; "t=3:1", "x=1:2,t=3:1:1"; "3:1" is "t=3:1". Throws Error that names the form.
// to_string: the same text back.
Shares parse_shares(const std::string& text);
std::string to_string(const Shares& shares);

// Whether `slabs` slabs of at least `least` sites, an even number, can divide `extent`.
bool can_be_cut(int extent, int slabs, int least = 2);
// Whether all directions can.
bool can_be_cut(const Extents& global, const Extents& grid, int least = 2);

// The widths of as many slabs as `shares` has numbers: even, at least `least`, their sum `extent`. Throws Error where
// there are none, or where a share is not a positive number.
std::vector<int> slab_widths(int extent, std::span<const double> shares, int least = 2);
// Of all directions. A direction that `grid` does not cut has one slab, whatever `least`. Throws Error where there are
// no such widths, or where a direction has another number of shares than `grid` has slabs.
SlabWidths slab_widths(const Extents& global, const Extents& grid, const Shares& shares = {}, int least = 2);

// The number of slabs in each direction.
Extents grid_of(const SlabWidths& widths);
// Whether the slabs of every direction are equal.
bool all_equal(const SlabWidths& widths);
// "t=12:10:10", of the directions that are cut into unequal slabs; "even" if there are none.
std::string to_string(const SlabWidths& widths);

}  // namespace staghorn
