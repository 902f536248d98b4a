// The geometry of the lattice and of its cut into local lattices. Immutable, local, no communication.
//
// Coordinates are (x, y, z, t); x runs fastest in every linear index. Parity is (x+y+z+t) mod 2 of the
// global coordinate, even first. Local extents are even, so local and global parity agree.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "halo/cut/slab_widths.hpp"

namespace staghorn {

using Coordinates = std::array<int, 4>;

enum class Parity : int { even = 0, odd = 1 };
constexpr Parity opposite(Parity parity) { return parity == Parity::even ? Parity::odd : Parity::even; }

constexpr std::int64_t volume(const Extents& e) { return std::int64_t{1} * e[0] * e[1] * e[2] * e[3]; }
std::string to_string(const Extents& extents);  // "8x8x8x16"

// Coordinates of an index that runs through `extents`, x fastest.
Coordinates unravel(std::int64_t index, const Extents& extents);

class Lattice {
 public:
  // `grid` must be able to cut `global` into slabs of 2 sites or more; equal shares. `rank` in [0, volume(grid)), x
  // fastest. loopback[mu] cuts direction mu even though grid[mu] == 1: its faces travel to the same rank.
  Lattice(const Extents& global, const Extents& grid, int rank, const std::array<bool, 4>& loopback = {});
  // Slabs of these even widths.
  Lattice(const SlabWidths& widths, int rank, const std::array<bool, 4>& loopback = {});

  const Extents& global() const { return global_; }
  const SlabWidths& widths() const { return widths_; }
  const Extents& grid() const { return grid_; }
  const Extents& local() const { return local_; }
  const Coordinates& grid_coordinates() const { return grid_coordinates_; }
  const Coordinates& origin() const { return origin_; }  // global coordinate of local (0,0,0,0)
  const std::array<bool, 4>& loopback() const { return loopback_; }
  int rank() const { return rank_; }

  std::int64_t global_volume() const { return volume(global_); }
  std::int64_t local_volume() const { return volume(local_); }

  // True if faces are exchanged: the grid cuts direction mu, or loop-back was asked for.
  bool partitioned(int mu) const { return grid_[mu] > 1 || loopback_[mu]; }

  // Rank of the neighbour one step along the process grid (periodic); direction +1 or -1.
  int neighbour_rank(int mu, int direction) const;
  // The part of another rank of the same cut.
  Lattice of_rank(int rank) const { return Lattice(widths_, rank, loopback_); }
  // Sites of the largest part of all ranks.
  std::int64_t largest_local_volume() const;
  // The place in the grid of the slab with global coordinate x_mu, and the first coordinate of a slab.
  int slab_of(int mu, int x_mu) const;
  int slab_begin(int mu, int slab) const;

  // Lexicographic local site index, x fastest, and its inverse.
  std::int64_t site_index(const Coordinates& x) const {
    return x[0] + std::int64_t{local_[0]} * (x[1] + std::int64_t{local_[1]} * (x[2] + std::int64_t{local_[2]} * x[3]));
  }
  Coordinates site_coordinates(std::int64_t site) const;
  // The same index and its inverse for global coordinates.
  std::int64_t global_site_index(const Coordinates& global_x) const;
  Coordinates to_global(const Coordinates& x) const;

  static Parity parity_of(const Coordinates& x) { return Parity((x[0] + x[1] + x[2] + x[3]) & 1); }

  bool operator==(const Lattice&) const = default;

 private:
  SlabWidths widths_;
  Extents global_, grid_, local_;
  Coordinates grid_coordinates_, origin_;
  std::array<bool, 4> loopback_;
  int rank_;
};

}  // namespace staghorn
