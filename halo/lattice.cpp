#include "halo/lattice.hpp"

#include <algorithm>
#include <numeric>

#include "halo/watch/error.hpp"

namespace staghorn {

Coordinates unravel(std::int64_t index, const Extents& e) {
  Coordinates x{};
  for (int mu = 0; mu < 4; ++mu) {
    x[mu] = int(index % e[mu]);
    index /= e[mu];
  }
  return x;
}

std::string to_string(const Extents& e) {
  return std::to_string(e[0]) + "x" + std::to_string(e[1]) + "x" + std::to_string(e[2]) + "x" + std::to_string(e[3]);
}

namespace {

SlabWidths equal_shares(const Extents& global, const Extents& grid) {
  for (int mu = 0; mu < 4; ++mu)
    if (global[mu] < 2 || global[mu] % 2 != 0)
      throw Error(ErrorKind::layout, "lattice", "even extents of at least 2", to_string(global));
  if (!can_be_cut(global, grid))
    throw Error(ErrorKind::layout, "process grid",
                "a grid that leaves slabs of at least 2 sites of " + to_string(global), "grid " + to_string(grid));
  return slab_widths(global, grid);
}

}  // namespace

Lattice::Lattice(const Extents& global, const Extents& grid, int rank, const std::array<bool, 4>& loopback)
    : Lattice(equal_shares(global, grid), rank, loopback) {}

Lattice::Lattice(const SlabWidths& widths, int rank, const std::array<bool, 4>& loopback)
    : widths_(widths), grid_(grid_of(widths)), loopback_(loopback), rank_(rank) {
  for (int mu = 0; mu < 4; ++mu)
    for (const int width : widths[mu])
      if (width < 2 || width % 2 != 0) throw Error(ErrorKind::layout, "slabs", "even widths of at least 2", width);
  if (rank < 0 || rank >= volume(grid_))
    throw Error(ErrorKind::layout, "process grid", "a rank below " + std::to_string(volume(grid_)), rank);
  grid_coordinates_ = unravel(rank, grid_);
  for (int mu = 0; mu < 4; ++mu) {
    global_[mu] = slab_begin(mu, grid_[mu]);
    local_[mu] = widths[mu][grid_coordinates_[mu]];
    origin_[mu] = slab_begin(mu, grid_coordinates_[mu]);
  }
}

std::int64_t Lattice::largest_local_volume() const {
  std::int64_t sites = 1;
  for (const std::vector<int>& slabs : widths_) sites *= *std::max_element(slabs.begin(), slabs.end());
  return sites;
}

int Lattice::slab_begin(int mu, int slab) const {
  const std::vector<int>& widths = widths_[mu];
  return std::accumulate(widths.begin(), widths.begin() + slab, 0);
}

int Lattice::slab_of(int mu, int x_mu) const {
  int slab = 0;
  for (int end = widths_[mu][0]; x_mu >= end; end += widths_[mu][slab]) ++slab;
  return slab;
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

}  // namespace staghorn
