// Blocks of the lattice: rectangles of whole sites, all alike, numbered by their place in the lattice. A block belongs
// to the lattice and not to a rank: rank grids whose parts cut blocks are refused, so nothing that is computed block by
// block depends on ranks. Local throughout.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "halo/lattice.hpp"

namespace staghorn {

class BlockGrid {
 public:
  // Throws Error where the extents of a block are odd, do not divide the lattice, or a rank has a part of a block.
  BlockGrid(const Lattice& lattice, const Extents& block);

  const Lattice& lattice() const { return lattice_; }
  const Extents& block() const { return block_; }
  const Extents& global() const { return global_; }  // blocks in each direction, of the lattice and of this rank
  const Extents& local() const { return local_; }
  std::int64_t count() const { return volume(local_); }  // of this rank; x fastest
  std::int64_t global_count() const { return volume(global_); }
  int sites() const { return int(offsets_[0].size()); }  // of one parity in a block

  // Site number i of a parity in block b of this rank, in lexicographic order within the block: a site index of fields.
  std::int64_t site(std::int64_t b, Parity parity, int i) const {
    return origin(b) + offsets_[std::size_t(parity)][std::size_t(i)];
  }
  // Where it lies in its block.
  Coordinates place(Parity parity, int i) const;

  Coordinates coordinates(std::int64_t b) const;             // of a block of this rank in the grid of all blocks
  std::int64_t global_index(const Coordinates& at) const;    // of a block of the grid of all, x fastest
  Coordinates global_coordinates(std::int64_t index) const;  // and back
  Coordinates wrapped(const Coordinates& at) const;          // into the grid of all blocks, which is periodic
  int rank_of(const Coordinates& at) const;                  // that has this block
  std::int64_t local_index(const Coordinates& at) const;     // of a block that this rank has
  // The same blocks as another rank sees them.
  BlockGrid of_rank(int rank) const { return BlockGrid(lattice_.of_rank(rank), block_); }

 private:
  std::int64_t origin(std::int64_t b) const;

  Lattice lattice_;
  Extents block_, global_{}, local_{};
  Coordinates first_{};  // block of this rank
  std::array<std::vector<std::int64_t>, 2> offsets_;
};

// The extents of the blocks for a lattice cut so: 4 in each direction, 6 where 4 does not divide it and 6 does, else 2.
// They depend on the lattice alone. Throws Error where a direction has no such blocks.
Extents chosen_block(const Extents& lattice);

}  // namespace staghorn
