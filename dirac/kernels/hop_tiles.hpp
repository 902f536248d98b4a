// Tiles: the numbers of right-hand sides that share a load of a link, for which hops on a GPU are compiled.
#pragma once

#include <array>
#include <type_traits>

#include "dirac/stencil/legs.hpp"

namespace staghorn {

// The largest first; the last is 1, which divides every number of right-hand sides.
template <int... Tiles>
struct TileList {
  static constexpr std::array<int, sizeof...(Tiles)> all{Tiles...};

  // Calls work(std::integral_constant<int, tile>) with the largest tile up to `most` that divides n_rhs.
  template <class Work>
  static void with_largest(int n_rhs, int most, const Work& work) {
    const auto takes = [&](auto tile) {
      if (tile > most || n_rhs % tile != 0) return false;
      work(tile);
      return true;
    };
    (takes(std::integral_constant<int, Tiles>()) || ...);
  }
};

// The tiles for numbers stored in so many bytes. `cut`: some sites may need ghosts. In fp16 `cut` also serves where a
// boundary has a phase other than +-1, for such hops are bound by instructions, and the usual case is a kernel of its
// own. From 4 on several threads share a site (cuda_hop_many.cuh); with such a phase the largest tile is 4. Kernels of
// improved quarks take twice as long to compile, so there are fewer of them.
template <int stored_bytes, Stencil stencil = Stencil::naive>
struct HopTiles {
  using whole = TileList<16, 8, 4, 3, 2, 1>;
  using cut = TileList<16, 4, 3, 1>;
};
template <>
struct HopTiles<2, Stencil::naive> {
  using whole = TileList<16, 4, 3, 1>;
  using cut = TileList<1>;
};
template <int stored_bytes>
struct HopTiles<stored_bytes, Stencil::improved> {
  using whole = TileList<16, 4, 1>;
  using cut = TileList<4, 1>;
};
template <>
struct HopTiles<2, Stencil::improved> {
  using whole = TileList<16, 4, 1>;
  using cut = TileList<1>;
};

}  // namespace staghorn
