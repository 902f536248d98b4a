// The hop of improved quarks: fat links of 18 reals and Naik links in each of their forms. For cpu_improved_*.cpp
// alone, which are compiled once for each instruction set, a file for each precision.
//
// Rows of blocks are computed direction after direction and one set of links after the other, so that each piece of
// memory read in one go holds the links of many blocks, or the vectors of all right-hand sides. The machine's own
// prefetchers follow two long streams better than the 16 short pieces of one block. D a of a row lies in the
// first-level cache meanwhile: 6 loads and stores beside 36 or more loads of links.
//
// D a of a row is a function of its own for each form, so that what follows it (HopUse) is compiled once for all forms.
#pragma once

#include <algorithm>
#include <span>
#include <type_traits>

#include "dirac/algebra/dispatch.hpp"
#include "dirac/kernels/cpu/cpu_hop.hpp"

namespace staghorn {

// Internal linkage: code for one instruction set must never be merged with another's.
namespace {

// Runs work(tile, rhs) over n right-hand sides: in one tile of N, or with N = 0 in tiles of 4 and what is left.
template <int N, class Work>
STAGHORN_INLINE void in_tiles([[maybe_unused]] int n, const Work& work) {
  if constexpr (N != 0) return work(std::integral_constant<int, N>(), 0);
  int rhs = 0;
  for (; rhs + 4 <= n; rhs += 4) work(std::integral_constant<int, 4>(), rhs);
  if (rhs + 3 == n) return work(std::integral_constant<int, 3>(), rhs);
  for (; rhs < n; ++rhs) work(std::integral_constant<int, 1>(), rhs);
}

using BlockRow = std::span<const std::int32_t>;

// Colour vectors of D a in a row at most: 24 KiB with the widest registers.
constexpr int vectors_of_row = 64;

// Adds the legs of one set in direction mu to D a, which lies in memory.
template <LinkSet set, int Tile, class Access, class Vector>
STAGHORN_INLINE void add_to(const Access& access, int mu, Vector* sum) {
  Vector out[Tile];
  STAGHORN_UNROLL
  for (int r = 0; r < Tile; ++r) out[r] = sum[r];
  add_legs<set>(access, mu, out);
  STAGHORN_UNROLL
  for (int r = 0; r < Tile; ++r) sum[r] = out[r];
}

// D a of N right-hand sides, or with N = 0 of as many as there are, in acc[block of the row][right-hand side]. Each
// block keeps the order of hop_site.
template <class Stored, int NaikReals, int N>
__attribute__((noinline)) void improved_row(const HopView& view, const HopCall& call, BlockRow row,
                                            BlockVector<Stored>* acc) {
  using Access = CpuAccess<Stored, 18, NaikReals, N == 0>;
  alignas(64) typename Access::Real gathered[6 * Access::V];
  const int n = N == 0 ? view.vectors.n_rhs : N;
  // Inlined by force: one right-hand side takes a fifth longer where gcc makes a function of it.
  const auto add = [&]<LinkSet set>(std::integral_constant<LinkSet, set>, int mu) {
    for (std::size_t k = 0; k < row.size(); ++k)
      in_tiles<N>(
          n, [&]<int Tile>(std::integral_constant<int, Tile>, int rhs) __attribute__((always_inline)) {
            add_to<set, Tile>(Access{view, call, row[k], rhs, gathered}, mu, acc + k * n + rhs);
          });
  };
  for (std::size_t k = 0; k < row.size() * n; ++k) acc[k] = {};
  STAGHORN_DIRECTIONS
  for (int mu = 0; mu < 4; ++mu) {
    add(std::integral_constant<LinkSet, LinkSet::near>(), mu);
    add(std::integral_constant<LinkSet, LinkSet::naik>(), mu);
  }
}

template <class Stored>
using ImprovedRow = void (*)(const HopView&, const HopCall&, BlockRow, BlockVector<Stored>*);

template <class Stored, HopUse Use>
void improved_blocks(ImprovedRow<Stored> improved_row, const HopView& view, const HopCall& call) {
  constexpr bool sums_up = Use == HopUse::store_norm || Use == HopUse::update_residual;
  const int n = view.vectors.n_rhs;
  const std::int64_t blocks_of_row = vectors_of_row / n;
  for_ranges(std::int64_t(call.blocks.size()), sums_up ? n : 0, call.grids, call.sums,
             [&](std::int64_t first, std::int64_t last, ThreadSum* sums) {
               BlockVector<Stored> acc[vectors_of_row];
               for (std::int64_t k = first; k < last; k += blocks_of_row) {
                 const BlockRow row =
                     call.blocks.subspan(std::size_t(k), std::size_t(std::min(blocks_of_row, last - k)));
                 improved_row(view, call, row, acc);
                 for (std::size_t b = 0; b < row.size(); ++b)
                   in_tiles<0>(n, [&]<int Tile>(std::integral_constant<int, Tile>, int rhs) {
                     BlockVector<Stored> vectors[Tile];
                     STAGHORN_UNROLL
                     for (int r = 0; r < Tile; ++r) vectors[r] = acc[b * n + rhs + r];
                     clear_lanes_without_site<Tile, Arithmetic<Stored>>(view, row[b], vectors);
                     finish_tile<Stored, Use>(view, call, row[b], rhs, sums, vectors);
                   });
               }
             });
}

template <class Stored, int NaikReals>
ImprovedRow<Stored> improved_row_of(int n_rhs) {
  switch (n_rhs) {
    case 1:
      return improved_row<Stored, NaikReals, 1>;
    case 3:
      return improved_row<Stored, NaikReals, 3>;
    case 4:
      return improved_row<Stored, NaikReals, 4>;
    default:
      return improved_row<Stored, NaikReals, 0>;
  }
}

template <class Stored>
void improved_hop(const HopView& view, const HopCall& call) {
  with_naik_form(view.naik.reconstruct, [&]<int NaikReals>(std::integral_constant<int, NaikReals>) {
    const auto row = improved_row_of<Stored, NaikReals>(view.vectors.n_rhs);
    with_use(call.use, [&]<HopUse Use>() { improved_blocks<Stored, Use>(row, view, call); });
  });
}

}  // namespace

}  // namespace staghorn
