// How the lattice is cut, and which rank gets which part. Each host holds a box of the process grid, so that large
// faces stay within hosts. Pure functions; no communication.
//
// A position is the place of a local lattice in the process grid, x fastest. Lattice calls it the rank.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "halo/lattice.hpp"

namespace staghorn {

// Which order of ranks fills the process grid.
enum class Mapping {
  host,     // every host holds one box of the grid
  natural,  // as MPI numbers them, x fastest
  reversed  // as MPI numbers them, t fastest
};

// "host", "natural", "reversed", and back. Parsing throws Error naming the choices.
std::string to_string(Mapping mapping);
Mapping parse_mapping(const std::string& text);

// The process grids of so many ranks that cut `global` into even local extents of at least `least_extent` where they
// cut. Those that cut t most come first: t varies slowest in memory and in files, so they win among equal ones.
std::vector<Extents> process_grids(const Extents& global, int n_ranks, int least_extent);

// The process grid that cuts `global` into even local extents of at least `least_extent` where it cuts: the one whose
// largest part is smallest, so one that divides evenly where there is any. Among equal grids: the one with the smallest
// face area, then the one with the least area between hosts of `ranks_per_host` ranks (0: not compared), then the one
// that cuts t most. `wanted`: how often directions must be cut; 0 where it is free. Throws Error that names both
// numbers if there is no such grid of `n_ranks`.
Extents choose_process_grid(const Extents& global, int n_ranks, int ranks_per_host = 0, int least_extent = 2,
                            const Extents& wanted = {});

// The box of ranks that one host holds. It divides `grid` and has `ranks_per_host` ranks, a divisor of volume(grid). Of
// these boxes it keeps most face area within the host. Among equal boxes it is longest in x, then in y, then in z.
Extents choose_host_box(const Extents& global, const Extents& grid, int ranks_per_host);

// The number of ranks on each host if all hosts have the same number, else 0. hosts[rank] numbers hosts from 0.
int ranks_per_host(std::span<const int> hosts);

struct Placement {
  Mapping mapping = Mapping::natural;  // in use
  int hosts = 1;
  std::vector<int> positions{0};  // by rank
  double share_within_hosts = 1;  // of the face area that travels between ranks; 1 where none does
  std::vector<int> host_of{0};    // by position
};

// Places ranks in the grid of `widths`; its volume is their number. Mapping::host becomes natural if hosts hold
// different numbers of ranks. Rank 0 is always at position 0, if it is on host 0.
Placement place_ranks(const SlabWidths& widths, std::span<const int> hosts, Mapping mapping);
// The same for equal shares.
Placement place_ranks(const Extents& global, const Extents& grid, std::span<const int> hosts, Mapping mapping);

// "2 hosts, mapping host: 75 % of the face area stays within hosts".
std::string describe(const Placement& placement);

}  // namespace staghorn
