#include "dirac/fields/site_layout.hpp"

#include <limits>

#include "halo/watch/error.hpp"

namespace staghorn {

namespace {

// Splits the extents among `lanes` lanes, by one factor of two after the other, so that each sub-extent stays even.
// Directions that are not cut among ranks go first (their faces need no ghost lanes), and x goes last (long rows).
// Returns false if the extents do not split.
bool split_among_lanes(const Lattice& lattice, int lanes, Extents& lane_grid, Extents& sub) {
  lane_grid = {1, 1, 1, 1};
  sub = lattice.local();
  for (int left = lanes; left > 1; left /= 2) {
    int best = -1;
    for (int mu : {1, 2, 3, 0}) {
      if (sub[mu] % 4 != 0) continue;
      const auto cost = [&](int nu) {
        return (lattice.partitioned(nu) ? 1000 : 0) + (nu == 0 ? 8 : 0) + 16 * lane_grid[nu];
      };
      if (best < 0 || cost(mu) < cost(best)) best = mu;
    }
    if (best < 0) return false;
    lane_grid[best] *= 2;
    sub[best] /= 2;
  }
  return true;
}

// Lanes of one block: whole lines of the cache, some 0.1 % more than the sites. The words of an object are then no
// power of two apart; with powers of two a hop of 16 right-hand sides is slower by 2 %.
std::int64_t padded(std::int64_t sites) {
  constexpr std::int64_t line = 32;
  return (sites + line - 1) / line * line + (1 + sites / (1024 * line)) * line;
}

}  // namespace

SiteLayout::SiteLayout(const Lattice& lattice, int lanes) : lattice_(lattice), lanes_(lanes) {
  const std::int64_t sites_per_parity = lattice.local_volume() / 2;
  if (sites_per_parity > std::numeric_limits<Slot>::max() / 2)
    throw Error("local lattice", "at most 2^31 sites per rank", to_string(lattice.local()));
  if (lanes == one_block) {
    lanes_ = int(padded(sites_per_parity));
    blocks_ = 1;
    sub_ = lattice.local();
    z_tile_ = sub_[2];
    return;
  }
  blocks_ = int((sites_per_parity + lanes - 1) / lanes);
  virtual_nodes_ = split_among_lanes(lattice, lanes, lane_grid_, sub_);
  if (!virtual_nodes_) {
    lane_grid_ = {1, 1, 1, 1};
    sub_ = lattice.local();
  }
  // Three t-slices of one tile (two colour vectors a site of 48 bytes, half the sites) should fit 0.75 MiB of cache.
  z_tile_ = sub_[2];
  while (z_tile_ % 2 == 0 && z_tile_ > 2 && std::int64_t{1} * sub_[0] * sub_[1] * z_tile_ * lanes_ * 24 * 3 > 786432)
    z_tile_ /= 2;
}

Slot SiteLayout::slot(const Coordinates& x) const {
  Coordinates s{}, l{};
  for (int mu = 0; mu < 4; ++mu) {
    l[mu] = x[mu] / sub_[mu];
    s[mu] = x[mu] % sub_[mu];
  }
  const std::int64_t order =
      s[0] +
      std::int64_t{sub_[0]} *
          (s[1] + std::int64_t{sub_[1]} *
                      (s[2] % z_tile_ + std::int64_t{z_tile_} * (s[3] + std::int64_t{sub_[3]} * (s[2] / z_tile_))));
  if (!virtual_nodes_) return Slot(order / 2);
  const int lane = l[0] + lane_grid_[0] * (l[1] + lane_grid_[1] * (l[2] + lane_grid_[2] * l[3]));
  return Slot(order / 2) * lanes_ + lane;
}

bool SiteLayout::site(Parity parity, Slot slot, Coordinates& x) const {
  if (slot >= lattice_.local_volume() / 2) return false;
  int lane = virtual_nodes_ ? slot % lanes_ : 0;
  std::int64_t rest = virtual_nodes_ ? slot / lanes_ : slot;
  const int half_row = sub_[0] / 2;
  x[0] = 2 * int(rest % half_row);
  rest /= half_row;
  x[1] = int(rest % sub_[1]);
  rest /= sub_[1];
  const int z_inner = int(rest % z_tile_);
  rest /= z_tile_;
  x[3] = int(rest % sub_[3]);
  x[2] = int(rest / sub_[3]) * z_tile_ + z_inner;
  if (Lattice::parity_of(x) != parity) ++x[0];
  for (int mu = 0; mu < 4; ++mu) {
    x[mu] += (lane % lane_grid_[mu]) * sub_[mu];
    lane /= lane_grid_[mu];
  }
  return true;
}

}  // namespace staghorn
