#include "halo/lattice.hpp"

#include "halo/watch/error.hpp"

namespace staghorn {

Coordinates unravel(std::int64_t index, const Extents& e) {
  Coordinates x;
  for (int mu = 0; mu < 4; ++mu) {
    x[mu] = int(index % e[mu]);
    index /= e[mu];
  }
  return x;
}

bool divides_evenly(const Extents& global, const Extents& grid) {
  for (int mu = 0; mu < 4; ++mu)
    if (grid[mu] < 1 || global[mu] % (2 * grid[mu]) != 0) return false;
  return true;
}

std::string to_string(const Extents& e) {
  return std::to_string(e[0]) + "x" + std::to_string(e[1]) + "x" + std::to_string(e[2]) + "x" + std::to_string(e[3]);
}

Lattice::Lattice(const Extents& global, const Extents& grid, int rank, const std::array<bool, 4>& loopback)
    : global_(global), grid_(grid), loopback_(loopback), rank_(rank) {
  for (int mu = 0; mu < 4; ++mu)
    if (global[mu] < 2 || global[mu] % 2 != 0)
      throw Error(ErrorKind::layout, "lattice", "even extents of at least 2", to_string(global));
  if (!divides_evenly(global, grid))
    throw Error(ErrorKind::layout, "process grid",
                "a grid that divides " + to_string(global) + " into even local extents", "grid " + to_string(grid));
  if (rank < 0 || rank >= volume(grid))
    throw Error(ErrorKind::layout, "process grid", "a rank below " + std::to_string(volume(grid)), rank);
  for (int mu = 0; mu < 4; ++mu) local_[mu] = global[mu] / grid[mu];
  grid_coordinates_ = unravel(rank, grid);
  for (int mu = 0; mu < 4; ++mu) origin_[mu] = grid_coordinates_[mu] * local_[mu];
}

int Lattice::neighbour_rank(int mu, int direction) const {
  Coordinates c = grid_coordinates_;
  c[mu] = (c[mu] + direction + grid_[mu]) % grid_[mu];
  return c[0] + grid_[0] * (c[1] + grid_[1] * (c[2] + grid_[2] * c[3]));
}

Coordinates Lattice::site_coordinates(std::int64_t site) const { return unravel(site, local_); }

std::int64_t Lattice::global_site_index(const Coordinates& x) const {
  return x[0] + std::int64_t{global_[0]} * (x[1] + std::int64_t{global_[1]} * (x[2] + std::int64_t{global_[2]} * x[3]));
}

Coordinates Lattice::to_global(const Coordinates& x) const {
  return {origin_[0] + x[0], origin_[1] + x[1], origin_[2] + x[2], origin_[3] + x[3]};
}

bool Lattice::owns(const Coordinates& x) const {
  for (int mu = 0; mu < 4; ++mu)
    if (x[mu] < origin_[mu] || x[mu] >= origin_[mu] + local_[mu]) return false;
  return true;
}

Coordinates Lattice::to_local(const Coordinates& x) const {
  return {x[0] - origin_[0], x[1] - origin_[1], x[2] - origin_[2], x[3] - origin_[3]};
}

}  // namespace staghorn
