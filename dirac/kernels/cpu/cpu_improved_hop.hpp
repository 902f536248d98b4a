// The hop of improved quarks: fat links of 18 reals and Naik links in each of their forms. For cpu_improved_*.cpp
// alone, which are compiled once for each instruction set, a file for each precision.
//
// Up to four right-hand sides are computed in rows of blocks, direction after direction and one set of links after the
// other, so that each piece of memory read in one go holds the links of many blocks. The machine's own prefetchers
// follow two long streams better than the 16 short pieces of one block. D a of a row lies in the first-level cache
// meanwhile: 6 loads and stores beside 36 or more loads of links.
//
// D a of a row is a function of its own for each form and tile, so that what follows it (HopUse) is compiled once for
// all forms.
#pragma once

#include <algorithm>
#include <span>
#include <type_traits>

#include "dirac/algebra/dispatch.hpp"
#include "dirac/kernels/cpu/cpu_hop.hpp"

namespace staghorn {

// Internal linkage: code for one instruction set must never be merged with another's.
namespace {

// More right-hand sides: block after block, for their vectors, not the links, fill the caches.
template <class Stored, int NaikReals, int Tile>
__attribute__((noinline)) void improved_site(const HopView& view, const HopCall& call, std::int64_t block, int rhs,
                                             Arithmetic<Stored>* gathered,
                                             ColorVector<Block<Arithmetic<Stored>>> (&out)[Tile]) {
  ColorVector<Block<Arithmetic<Stored>>> acc[Tile];
  hop_site<Tile>(CpuAccess<Stored, 18, NaikReals>{view, call, block, rhs, gathered}, acc);
  for (int r = 0; r < Tile; ++r) out[r] = acc[r];
}

template <class Stored>
struct ImprovedHop {
  template <int Tile>
  using Site = void (*)(const HopView&, const HopCall&, std::int64_t, int, Arithmetic<Stored>*,
                        ColorVector<Block<Arithmetic<Stored>>> (&)[Tile]);
  Site<1> one;
  Site<3> three;
  Site<4> four;

  template <int Tile>
  STAGHORN_INLINE void compute(const HopView& view, const HopCall& call, std::int64_t block, int rhs,
                               Arithmetic<Stored>* gathered,
                               ColorVector<Block<Arithmetic<Stored>>> (&acc)[Tile]) const {
    if constexpr (Tile == 1) one(view, call, block, rhs, gathered, acc);
    if constexpr (Tile == 3) three(view, call, block, rhs, gathered, acc);
    if constexpr (Tile == 4) four(view, call, block, rhs, gathered, acc);
  }
};

using BlockRow = std::span<const std::int32_t>;

// Colour vectors of D a in a row at most: 24 KiB with the widest registers.
constexpr int vectors_of_row = 64;

// D a of Tile right-hand sides from rhs on, in acc[block of the row][right-hand side]. Each block keeps the order of
// hop_site.
template <class Stored, int NaikReals, int Tile>
__attribute__((noinline)) void improved_row(const HopView& view, const HopCall& call, BlockRow row, int rhs,
                                            BlockVector<Stored>* acc) {
  using Access = CpuAccess<Stored, 18, NaikReals, true>;
  alignas(64) typename Access::Real gathered[6 * Access::V];
  const auto add = [&]<LinkSet set>(std::integral_constant<LinkSet, set>, int mu) {
    for (std::size_t k = 0; k < row.size(); ++k) {
      BlockVector<Stored> out[Tile];
      STAGHORN_UNROLL
      for (int r = 0; r < Tile; ++r) out[r] = acc[k * Tile + r];
      add_legs<set>(Access{view, call, row[k], rhs, gathered}, mu, out);
      STAGHORN_UNROLL
      for (int r = 0; r < Tile; ++r) acc[k * Tile + r] = out[r];
    }
  };
  for (std::size_t k = 0; k < row.size() * Tile; ++k) acc[k] = {};
  STAGHORN_DIRECTIONS
  for (int mu = 0; mu < 4; ++mu) {
    add(std::integral_constant<LinkSet, LinkSet::near>(), mu);
    add(std::integral_constant<LinkSet, LinkSet::naik>(), mu);
  }
}

// improved_row of one form of Naik links, for each tile.
template <class Stored>
struct ImprovedRow {
  using Row = void (*)(const HopView&, const HopCall&, BlockRow, int, BlockVector<Stored>*);
  Row one, three, four;

  template <int Tile>
  Row of() const {
    return Tile == 1 ? one : Tile == 3 ? three : four;
  }
};

template <class Stored, HopUse Use>
void improved_blocks(const ImprovedRow<Stored>& hop, const HopView& view, const HopCall& call) {
  constexpr bool sums_up = Use == HopUse::store_norm || Use == HopUse::update_residual;
  const int n = view.vectors.n_rhs;
  const std::int64_t blocks_of_row = n == 1 ? vectors_of_row : vectors_of_row / 4;
  for_ranges(std::int64_t(call.blocks.size()), sums_up ? n : 0, call.grids, call.sums,
             [&](std::int64_t first, std::int64_t last, ThreadSum* sums) {
               BlockVector<Stored> acc[vectors_of_row];
               for (std::int64_t k = first; k < last; k += blocks_of_row) {
                 const BlockRow row =
                     call.blocks.subspan(std::size_t(k), std::size_t(std::min(blocks_of_row, last - k)));
                 const auto compute = [&]<int Tile>(std::integral_constant<int, Tile>, int rhs) {
                   hop.template of<Tile>()(view, call, row, rhs, acc);
                   for (std::size_t b = 0; b < row.size(); ++b) {
                     BlockVector<Stored> vectors[Tile];
                     STAGHORN_UNROLL
                     for (int r = 0; r < Tile; ++r) vectors[r] = acc[b * Tile + r];
                     clear_lanes_without_site<Tile, Arithmetic<Stored>>(view, row[b], vectors);
                     finish_tile<Stored, Use>(view, call, row[b], rhs, sums, vectors);
                   }
                 };
                 if (n <= 2)
                   for (int rhs = 0; rhs < n; ++rhs) compute(std::integral_constant<int, 1>(), rhs);
                 if (n == 3) compute(std::integral_constant<int, 3>(), 0);
                 if (n == 4) compute(std::integral_constant<int, 4>(), 0);
               }
             });
}

template <class Stored>
void improved_hop(const HopView& view, const HopCall& call) {
  with_naik_form(view.naik.reconstruct, [&]<int NaikReals>(std::integral_constant<int, NaikReals>) {
    if (view.vectors.n_rhs > 4)
      return hop_for_use<Stored>(
          ImprovedHop<Stored>{improved_site<Stored, NaikReals, 1>, improved_site<Stored, NaikReals, 3>,
                              improved_site<Stored, NaikReals, 4>},
          view, call);
    const ImprovedRow<Stored> hop{improved_row<Stored, NaikReals, 1>, improved_row<Stored, NaikReals, 3>,
                                  improved_row<Stored, NaikReals, 4>};
    with_use(call.use, [&]<HopUse Use>() { improved_blocks<Stored, Use>(hop, view, call); });
  });
}

}  // namespace

}  // namespace staghorn
