// The local lattice of this rank. The process grid is the given one, or the one with the least surface. Slabs have
// equal shares or the given ones. Ranks keep their own order, or are placed so that large faces stay within hosts.
#pragma once

#include <optional>

#include "halo/communicator.hpp"
#include "halo/host_mapping.hpp"
#include "halo/lattice.hpp"
#include "halo/watch/error.hpp"

namespace staghorn {

// The widths of the slabs for `n_ranks` ranks. A grid that is chosen here cuts the directions of `shares` as often as
// they have numbers. Directions that are cut have slabs of at least `least_extent` sites. Throws Error unless `grid`
// has as many ranks and can cut `extents`, and `shares` fit it. Local.
inline SlabWidths choose_widths(const Extents& extents, int n_ranks, const std::optional<Extents>& grid = std::nullopt,
                                const Shares& shares = {}, int ranks_per_host = 0, int least_extent = 2) {
  Extents wanted{};
  for (int mu = 0; mu < 4; ++mu) wanted[mu] = int(shares.of[std::size_t(mu)].size());
  const Extents chosen = grid ? *grid : choose_process_grid(extents, n_ranks, ranks_per_host, least_extent, wanted);
  if (volume(chosen) != n_ranks)
    throw Error(ErrorKind::layout, "process grid " + to_string(chosen), std::to_string(volume(chosen)) + " ranks",
                std::to_string(n_ranks) + " ranks");
  const Lattice equal(extents, chosen, 0);  // throws if the lattice cannot be cut in this way
  return shares.any() ? slab_widths(extents, chosen, shares, least_extent) : equal.widths();
}

// Throws Error, the same on every rank, as choose_widths.
inline Lattice cut_lattice(const Communicator& communicator, const Extents& extents,
                           const std::optional<Extents>& grid = std::nullopt, const Shares& shares = {},
                           const std::array<bool, 4>& loopback = {}) {
  return Lattice(choose_widths(extents, communicator.size(), grid, shares), communicator.rank(), loopback);
}

struct PlacedLattice {
  Communicator communicator;  // renumbered: its ranks are positions in the grid
  Lattice lattice;
  Placement placement;
};

// As above, with ranks placed by `mapping`. Rank 0 stays rank 0. Collective.
inline PlacedLattice place_lattice(const Communicator& communicator, const Extents& extents,
                                   const std::optional<Extents>& grid, const Shares& shares,
                                   const std::array<bool, 4>& loopback, Mapping mapping, int least_extent = 2) {
  const std::vector<int> hosts = communicator.hosts();
  const int per_host = mapping == Mapping::host ? ranks_per_host(hosts) : 0;
  const SlabWidths widths = choose_widths(extents, communicator.size(), grid, shares, per_host, least_extent);
  Placement placement = place_ranks(widths, hosts, mapping);
  Communicator placed = communicator.split(0, placement.positions[std::size_t(communicator.rank())]);
  const Lattice lattice(widths, placed.rank(), loopback);
  return {std::move(placed), lattice, std::move(placement)};
}

}  // namespace staghorn
