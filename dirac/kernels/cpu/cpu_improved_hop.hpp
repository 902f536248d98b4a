// The hop of improved quarks: fat links of 18 reals and Naik links in each of their forms. For cpu_improved_*.cpp
// alone, which are compiled once for each instruction set, a file for each precision.
//
// D a at a site is a function of its own for each form and tile, so that what follows it (HopUse) is compiled once for
// all forms. acc passes through the first-level cache: 6 loads and stores beside 32 of links.
#pragma once

#include "dirac/algebra/dispatch.hpp"
#include "dirac/kernels/cpu/cpu_hop.hpp"

namespace staghorn {

// Internal linkage: code for one instruction set must never be merged with another's.
namespace {

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

template <class Stored>
void improved_hop(const HopView& view, const HopCall& call) {
  with_naik_form(view.naik.reconstruct, [&]<int NaikReals>(std::integral_constant<int, NaikReals>) {
    const ImprovedHop<Stored> hop{improved_site<Stored, NaikReals, 1>, improved_site<Stored, NaikReals, 3>,
                                  improved_site<Stored, NaikReals, 4>};
    hop_for_use<Stored>(hop, view, call);
  });
}

}  // namespace

}  // namespace staghorn
