#include "solver/krylov/coarse/block_grid.hpp"

#include "halo/watch/error.hpp"

namespace staghorn {

BlockGrid::BlockGrid(const Lattice& lattice, const Extents& block) : lattice_(lattice), block_(block) {
  for (int mu = 0; mu < 4; ++mu) {
    if (block[mu] < 2 || block[mu] % 2 != 0 || lattice.global()[mu] % block[mu] != 0)
      throw Error("block", "even extents that divide the lattice " + to_string(lattice.global()), to_string(block));
    for (int slab = 0; slab < lattice.grid()[mu]; ++slab)
      if (lattice.slab_begin(mu, slab) % block[mu] != 0)
        throw Error(ErrorKind::layout, "block",
                    "extents that divide the part of every rank, of grid " + to_string(lattice.grid()) +
                        ": a block lies on one rank",
                    to_string(block));
    global_[mu] = lattice.global()[mu] / block[mu];
    local_[mu] = lattice.local()[mu] / block[mu];
    first_[mu] = lattice.origin()[mu] / block[mu];
  }
  for (std::int64_t k = 0; k < volume(block); ++k) {
    const Coordinates x = unravel(k, block);
    offsets_[std::size_t(Lattice::parity_of(x))].push_back(lattice.site_index(x));
  }
}

std::int64_t BlockGrid::origin(std::int64_t b) const {
  Coordinates x = unravel(b, local_);
  for (int mu = 0; mu < 4; ++mu) x[mu] *= block_[mu];
  return lattice_.site_index(x);
}

Coordinates BlockGrid::place(Parity parity, int i) const {
  return lattice_.site_coordinates(offsets_[std::size_t(parity)][std::size_t(i)]);
}

Coordinates BlockGrid::coordinates(std::int64_t b) const {
  Coordinates at = unravel(b, local_);
  for (int mu = 0; mu < 4; ++mu) at[mu] += first_[mu];
  return at;
}

std::int64_t BlockGrid::global_index(const Coordinates& at) const {
  return at[0] +
         std::int64_t{global_[0]} * (at[1] + std::int64_t{global_[1]} * (at[2] + std::int64_t{global_[2]} * at[3]));
}

Coordinates BlockGrid::global_coordinates(std::int64_t index) const { return unravel(index, global_); }

Coordinates BlockGrid::wrapped(const Coordinates& at) const {
  Coordinates within = at;
  for (int mu = 0; mu < 4; ++mu) within[mu] = (at[mu] % global_[mu] + global_[mu]) % global_[mu];
  return within;
}

int BlockGrid::rank_of(const Coordinates& at) const {
  std::int64_t rank = 0;
  for (int mu = 3; mu >= 0; --mu) rank = rank * lattice_.grid()[mu] + lattice_.slab_of(mu, at[mu] * block_[mu]);
  return int(rank);
}

std::int64_t BlockGrid::local_index(const Coordinates& at) const {
  std::int64_t index = 0;
  for (int mu = 3; mu >= 0; --mu) index = index * local_[mu] + at[mu] - first_[mu];
  return index;
}

Extents chosen_block(const Extents& lattice) {
  Extents block{};
  for (int mu = 0; mu < 4; ++mu) {
    for (const int extent : {4, 6, 2})
      if (block[mu] == 0 && lattice[mu] % extent == 0) block[mu] = extent;
    if (block[mu] == 0) throw Error("lattice", "even extents", to_string(lattice));
  }
  return block;
}

}  // namespace staghorn
