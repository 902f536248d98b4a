// The local lattice of this rank. The process grid is the given one, or the one with the least surface. Ranks keep
// their own order, or are placed so that large faces stay within hosts.
#pragma once

#include <optional>

#include "halo/communicator.hpp"
#include "halo/host_mapping.hpp"
#include "halo/lattice.hpp"
#include "halo/watch/error.hpp"

namespace staghorn {

// Throws Error, the same on every rank, unless `grid` has as many ranks as the communicator and divides `extents`.
inline Lattice cut_lattice(const Communicator& communicator, const Extents& extents,
                           const std::optional<Extents>& grid = std::nullopt,
                           const std::array<bool, 4>& loopback = {}) {
  const Extents chosen = grid ? *grid : choose_process_grid(extents, communicator.size());
  if (volume(chosen) != communicator.size())
    throw Error(ErrorKind::layout, "process grid " + to_string(chosen), std::to_string(volume(chosen)) + " ranks",
                std::to_string(communicator.size()) + " ranks");
  return Lattice(extents, chosen, communicator.rank(), loopback);
}

struct PlacedLattice {
  Communicator communicator;  // renumbered: its ranks are positions in the grid
  Lattice lattice;
  Placement placement;
};

// As above, with ranks placed by `mapping`. A grid that is chosen here leaves directions that it cuts at least
// `least_extent` sites. Rank 0 stays rank 0. Collective.
inline PlacedLattice place_lattice(const Communicator& communicator, const Extents& extents,
                                   const std::optional<Extents>& grid, const std::array<bool, 4>& loopback,
                                   Mapping mapping, int least_extent = 2) {
  const std::vector<int> hosts = communicator.hosts();
  const int per_host = mapping == Mapping::host ? ranks_per_host(hosts) : 0;
  const Extents chosen = grid ? *grid : choose_process_grid(extents, communicator.size(), per_host, least_extent);
  cut_lattice(communicator, extents, chosen, loopback);  // throws if the lattice cannot be cut in this way
  Placement placement = place_ranks(extents, chosen, hosts, mapping);
  Communicator placed = communicator.split(0, placement.positions[std::size_t(communicator.rank())]);
  const Lattice lattice(extents, chosen, placed.rank(), loopback);
  return {std::move(placed), lattice, std::move(placement)};
}

}  // namespace staghorn
