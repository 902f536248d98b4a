// This rank's part of a lattice: the process grid that was asked for, or the one with the least surface.
#pragma once

#include <optional>

#include "halo/communicator.hpp"
#include "halo/error.hpp"
#include "halo/lattice.hpp"

namespace staghorn {

// Throws Error, the same on every rank, unless `grid` has as many ranks as the communicator and divides `extents`.
inline Lattice cut_lattice(const Communicator& communicator, const Extents& extents,
                           const std::optional<Extents>& grid = std::nullopt,
                           const std::array<bool, 4>& loopback = {}) {
  const Extents chosen = grid ? *grid : choose_process_grid(extents, communicator.size());
  if (volume(chosen) != communicator.size())
    throw Error("process grid " + to_string(chosen), std::to_string(volume(chosen)) + " ranks",
                std::to_string(communicator.size()) + " ranks");
  return Lattice(extents, chosen, communicator.rank(), loopback);
}

}  // namespace staghorn
