// The hop of improved quarks: fat links of 18 reals and Naik links in each of their forms. For cpu_improved_*.cpp
// alone, which are compiled once for each instruction set, a file for each precision.
//
// Blocks are computed in rows, direction after direction and one set of links after the other, so that each piece of
// memory read in one go holds the links of many blocks. The machine's own prefetchers follow two long streams better
// than the 16 short pieces of one block. D a of a row lies in the first-level cache meanwhile: 6 loads and stores
// beside 36 or more loads of links.
//
// D a of a row is a function of its own for each form and tile, so that what follows it (HopUse) is compiled once for
// all forms.
#pragma once

#include "dirac/algebra/dispatch.hpp"
#include "dirac/kernels/cpu/cpu_hop.hpp"

namespace staghorn {

// Internal linkage: code for one instruction set must never be merged with another's.
namespace {

template <class Stored>
struct ImprovedHop {
  static constexpr int vectors_of_row = 64;
  template <int Tile>
  using Acc = RowVectors<Stored, ImprovedHop, Tile>;
  template <int Tile>
  using Row = void (*)(const HopView&, const HopCall&, BlockRow, int, Arithmetic<Stored>*, Acc<Tile>&);
  Row<1> one;
  Row<3> three;
  Row<4> four;

  template <int Tile>
  STAGHORN_INLINE void compute(const HopView& view, const HopCall& call, BlockRow row, int rhs,
                               Arithmetic<Stored>* gathered, Acc<Tile>& acc) const {
    if constexpr (Tile == 1) one(view, call, row, rhs, gathered, acc);
    if constexpr (Tile == 3) three(view, call, row, rhs, gathered, acc);
    if constexpr (Tile == 4) four(view, call, row, rhs, gathered, acc);
  }
};

// Each block keeps the order of hop_site.
template <class Stored, int NaikReals, int Tile>
__attribute__((noinline)) void improved_row(const HopView& view, const HopCall& call, BlockRow row, int rhs,
                                            Arithmetic<Stored>* gathered,
                                            RowVectors<Stored, ImprovedHop<Stored>, Tile>& acc) {
  const auto add_legs_of = [&]<LinkSet set>(std::integral_constant<LinkSet, set>, int mu) {
    for (std::size_t k = 0; k < row.size(); ++k) {
      BlockVector<Stored> out[Tile];
      STAGHORN_UNROLL
      for (int r = 0; r < Tile; ++r) out[r] = acc[k][r];
      add_legs<set>(CpuAccess<Stored, 18, NaikReals>{view, call, row[k], rhs, gathered}, mu, out);
      STAGHORN_UNROLL
      for (int r = 0; r < Tile; ++r) acc[k][r] = out[r];
    }
  };
  for (std::size_t k = 0; k < row.size(); ++k)
    for (int r = 0; r < Tile; ++r) acc[k][r] = {};
  STAGHORN_DIRECTIONS
  for (int mu = 0; mu < 4; ++mu) {
    add_legs_of(std::integral_constant<LinkSet, LinkSet::near>(), mu);
    add_legs_of(std::integral_constant<LinkSet, LinkSet::naik>(), mu);
  }
}

template <class Stored>
void improved_hop(const HopView& view, const HopCall& call) {
  with_naik_form(view.naik.reconstruct, [&]<int NaikReals>(std::integral_constant<int, NaikReals>) {
    const ImprovedHop<Stored> hop{improved_row<Stored, NaikReals, 1>, improved_row<Stored, NaikReals, 3>,
                                  improved_row<Stored, NaikReals, 4>};
    hop_for_use<Stored>(hop, view, call);
  });
}

}  // namespace

}  // namespace staghorn
