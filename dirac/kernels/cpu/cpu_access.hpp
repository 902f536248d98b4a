// How the CPU kernels read and write numbers: vectors and links of a block of lanes, and neighbours wherever they lie.
// For the files of this folder alone, which are compiled once for each instruction set with
// -DSTAGHORN_VECTOR_BYTES=bytes.
#pragma once

#include <cstdint>
#include <type_traits>

#include "dirac/algebra/fixed_point.hpp"
#include "dirac/algebra/lanes.hpp"
#include "dirac/algebra/link_forms.hpp"
#include "dirac/algebra/su3.hpp"
#include "dirac/kernels/kernel_table.hpp"

namespace staghorn {

// Internal linkage: code for one instruction set must never be merged with another's.
namespace {

constexpr int vector_bytes = STAGHORN_VECTOR_BYTES;
template <class Real>
constexpr int lanes_of = vector_bytes / int(sizeof(Real));

template <class Real>
using Block = Lanes<Real, lanes_of<Real>>;

// Kernels are templates on the type that numbers are stored as: double, float, or int16 for fixed point.
template <class Stored>
using BlockVector = ColorVector<Block<Arithmetic<Stored>>>;
template <class Stored>
constexpr int stored_lanes = lanes_of<Arithmetic<Stored>>;
// The distance from one vector of a block to the next, in stored reals.
template <class Stored>
constexpr int vector_stride = vector_places<Stored>* stored_lanes<Stored>;

// Reads V lanes of stored reals.
template <class Stored>
STAGHORN_INLINE Block<Arithmetic<Stored>> load_reals(const Stored* from) {
  if constexpr (is_fixed_point<Stored>) {
    const auto numbers = *reinterpret_cast<const Lanes<std::int16_t, lanes_of<float>>*>(from);
    return __builtin_convertvector(__builtin_convertvector(numbers, Lanes<std::int32_t, lanes_of<float>>),
                                   Block<float>);
  } else {
    return load<Block<Stored>>(from);
  }
}

template <class Stored>
STAGHORN_INLINE float* units(Stored* vector) {
  return reinterpret_cast<float*>(vector + 6 * stored_lanes<Stored>);
}
template <class Stored>
STAGHORN_INLINE const float* units(const Stored* vector) {
  return reinterpret_cast<const float*>(vector + 6 * stored_lanes<Stored>);
}

template <class Stored>
STAGHORN_INLINE BlockVector<Stored> load_vector(const Stored* from, Arithmetic<Stored> factor = 1) {
  constexpr int V = stored_lanes<Stored>;
  Block<Arithmetic<Stored>> unit = broadcast<Block<Arithmetic<Stored>>>(factor);
  if constexpr (is_fixed_point<Stored>) unit = load<Block<float>>(units(from)) * factor;
  BlockVector<Stored> v;
  STAGHORN_UNROLL
  for (int c = 0; c < 3; ++c) v.c[c] = {load_reals(from + 2 * c * V) * unit, load_reals(from + (2 * c + 1) * V) * unit};
  return v;
}

// Not inlined, for gcc would then work lane by lane on what comes before, and a hop would take six times as long.
inline __attribute__((noinline)) void store_fixed_point(std::int16_t* to, const Block<float> (&reals)[6]) {
  constexpr int V = lanes_of<float>;
  Lanes<std::int32_t, V> q[6];
  store(units(to), to_fixed_point(reals, q));
  STAGHORN_UNROLL
  for (int k = 0; k < 6; ++k)
    *reinterpret_cast<Lanes<std::int16_t, V>*>(to + k * V) = __builtin_convertvector(q[k], Lanes<std::int16_t, V>);
}

template <class Stored>
STAGHORN_INLINE void store_vector(Stored* to, const BlockVector<Stored>& v) {
  [[maybe_unused]] constexpr int V = stored_lanes<Stored>;
  if constexpr (is_fixed_point<Stored>) {
    store_fixed_point(to, {v.c[0].re, v.c[0].im, v.c[1].re, v.c[1].im, v.c[2].re, v.c[2].im});
  } else {
    STAGHORN_UNROLL
    for (int c = 0; c < 3; ++c) {
      store(to + 2 * c * V, v.c[c].re);
      store(to + (2 * c + 1) * V, v.c[c].im);
    }
  }
}

// Copies n lanes of a vector, as they are stored.
template <class Stored>
STAGHORN_INLINE void copy_lanes(Stored* to, int target, const Stored* from, int source, int n) {
  constexpr int V = stored_lanes<Stored>;
  for (int c = 0; c < 6; ++c) __builtin_memcpy(to + c * V + target, from + c * V + source, n * sizeof(Stored));
  if constexpr (is_fixed_point<Stored>) __builtin_memcpy(units(to) + target, units(from) + source, n * sizeof(float));
}

// Reads special neighbours of a hop: permuted lanes, ghosts, boundary phases.
template <class Stored>
__attribute__((noinline)) void load_special(const SpecialNeighbour& s, const Stored* in, const Stored* ghost, int n_rhs,
                                            int rhs, const double* phase, Arithmetic<Stored> factor,
                                            Arithmetic<Stored>* result) {
  using Real = Arithmetic<Stored>;
  constexpr int V = lanes_of<Real>;
  const std::int64_t block_reals = std::int64_t{n_rhs} * vector_stride<Stored>,
                     vector0 = std::int64_t{rhs} * vector_stride<Stored>;
  alignas(64) Stored gathered[vector_stride<Stored>];
  const auto gather = [&](int first, int n) {  // n consecutive lanes of one block
    const Slot slot = s.source[first] < 0 ? ~s.source[first] : s.source[first];
    const Stored* from = (s.source[first] < 0 ? ghost : in) + slot / V * block_reals + vector0;
    copy_lanes(gathered, first, from, slot % V, n);
  };
  using Index = Lanes<std::conditional_t<sizeof(Real) == 8, std::int64_t, std::int32_t>, V>;
  Index source;
  for (int l = 0; l < V; ++l) source[l] = l;
  const Stored* from = gathered;
  switch (s.kind) {
    case SpecialNeighbour::permuted:
    case SpecialNeighbour::ghost_block:
      from = (s.kind == SpecialNeighbour::ghost_block ? ghost : in) + s.block * block_reals + vector0;
      source = __builtin_convertvector(*reinterpret_cast<const Lanes<std::int32_t, V>*>(s.source), Index);
      break;
    case SpecialNeighbour::halves:
      gather(0, V / 2);
      gather(V / 2, V / 2);
      break;
    case SpecialNeighbour::scattered:
      for (int l = 0; l < V; ++l) gather(l, 1);
  }
  const auto sign = __builtin_convertvector(load<Lanes<float, V>>(s.sign), Block<Real>);
  const BlockVector<Stored> v = load_vector(from, factor);
  STAGHORN_UNROLL
  for (int c = 0; c < 3; ++c) {
    store(result + 2 * c * V, __builtin_shuffle(v.c[c].re, source) * sign);
    store(result + (2 * c + 1) * V, __builtin_shuffle(v.c[c].im, source) * sign);
  }
  if (s.phase_lanes == 0) return;
  const Real cosine = Real(phase[0]), sine = Real(phase[1]);
  STAGHORN_UNROLL
  for (int c = 0; c < 3; ++c)
    for (int l = 0; l < V; ++l) {
      if (!(s.phase_lanes >> l & 1)) continue;
      const Real re = result[2 * c * V + l], im = result[(2 * c + 1) * V + l];
      result[2 * c * V + l] = multiply_add(-sine, im, cosine * re);
      result[(2 * c + 1) * V + l] = multiply_add(sine, re, cosine * im);
    }
}

// The Access of hop_kernel.hpp. Links stay in their unit (fixed point) and without their scale (improved quarks);
// vectors are multiplied by both instead: 6 products a link, not 18. NaikReals: 0 for naive quarks.
// Prefetches: vectors of the next block are asked for in z and t, where more lies between the slices that a hop reads
// than a second-level cache holds.
template <class Stored, int NearReals, int NaikReals = 0, bool Prefetches = false>
struct CpuAccess {
  using Real = Arithmetic<Stored>;
  static constexpr int V = lanes_of<Real>;
  static constexpr Stencil stencil = NaikReals == 0 ? Stencil::naive : Stencil::improved;
  template <LinkSet set>
  static constexpr int reals_of = set == LinkSet::naik ? NaikReals : NearReals;
  template <LinkSet set>
  static constexpr Real third_row_unit = staghorn::third_row_unit<Stored, reals_of<set>>;
  const HopView& view;
  const HopCall& call;
  std::int64_t block;
  int first_rhs;
  Real* gathered;  // room for one special neighbour

  const std::int32_t* codes() const { return view.neighbourhood.neighbours + block * legs_of(stencil); }
  template <LinkSet set>
  const LinkSetView& links() const {
    return set == LinkSet::naik ? view.naik : view.near;
  }

  // What vectors are multiplied by, but for the sign.
  template <LinkSet set>
  STAGHORN_INLINE Real factor() const {
    constexpr Real unit = link_unit<Stored, reals_of<set>>;
    if constexpr (stencil == Stencil::naive) return unit;
    return Real(links<set>().scale) * unit;
  }

  // The next blocks read the links that lie behind this one in memory. One of them is prefetched, because the machine's
  // own prefetchers follow too few streams at once. How far ahead, and with many right-hand sides only into the second
  // level, was measured (decision 026).
  static constexpr int blocks_ahead = Prefetches                  ? 2
                                      : stencil == Stencil::naive ? 64 / vector_bytes
                                                                  : 128 / vector_bytes;
  static constexpr int prefetch_level = Prefetches ? 2 : 3;  // of __builtin_prefetch: 3 is the first level

  // In all cases links are read through one pointer and vectors through another, so that the arithmetic that follows is
  // compiled once and free of branches.
  template <LinkSet set>
  STAGHORN_INLINE ColorMatrix<Block<Real>> load_link(const void* links, std::int64_t index) const {
    constexpr int Reals = reals_of<set>;
    const Stored* from = static_cast<const Stored*>(links) + index * (Reals * V);
    const Stored* const soon = from + blocks_ahead * Reals * V;
    Block<Real> reals[Reals];
    STAGHORN_UNROLL
    for (int k = 0; k < Reals / 2; ++k) {
      reals[2 * k] = load_reals(from + 2 * k * V), reals[2 * k + 1] = load_reals(from + (2 * k + 1) * V);
      constexpr int lines = vector_bytes * sizeof(Stored) / sizeof(Real) < 64 ? 1 : 2;  // in a complex number
      __builtin_prefetch(soon + 2 * k * V, 0, prefetch_level);
      if constexpr (lines == 2) __builtin_prefetch(soon + (2 * k + 1) * V, 0, prefetch_level);
    }
    if constexpr (Reals % 2 == 1) {
      reals[Reals - 1] = load_reals(from + (Reals - 1) * V);
      __builtin_prefetch(soon + (Reals - 1) * V, 0, prefetch_level);
    }
    return link_from_reals<Stored>(reals);
  }

  template <LinkSet set>
  STAGHORN_INLINE ColorMatrix<Block<Real>> link_here(int mu) const {
    return load_link<set>(links<set>().here, mu * view.vectors.blocks + block);
  }

  template <LinkSet set>
  STAGHORN_INLINE ColorMatrix<Block<Real>> link_behind(int mu) const {
    const std::int32_t code = codes()[leg_number(stencil, {mu, set, false})];
    return load_link<set>(code >= 0 ? links<set>().there : links<set>().special,
                          code >= 0 ? mu * view.vectors.blocks + (code >> 1) : view.neighbourhood.special_link[~code]);
  }

  const Stored* neighbour(std::int32_t code, int rhs) const {
    return static_cast<const Stored*>(call.in) +
           (std::int64_t{code >> 1} * view.vectors.n_rhs + rhs) * vector_stride<Stored>;
  }

  // Asks for what the next block reads at this leg.
  STAGHORN_INLINE void prefetch_next(int leg, int rhs) const {
    if (block + 1 == view.vectors.blocks) return;
    const std::int32_t next = codes()[legs_of(stencil) + leg];
    if (next < 0) return;
    const char* const soon = reinterpret_cast<const char*>(neighbour(next, rhs));
    STAGHORN_UNROLL
    for (int byte = 0; byte < int(vector_stride<Stored> * sizeof(Stored)); byte += 64)
      __builtin_prefetch(soon + byte, 0, 3);
  }

  template <LinkSet set>
  STAGHORN_INLINE ColorVector<Block<Real>> vector(int mu, bool forward, int r) const {
    const int rhs = first_rhs + r, leg = leg_number(stencil, {mu, set, forward});
    const std::int32_t code = codes()[leg];
    const Stored* in = static_cast<const Stored*>(call.in);
    const Real factor = this->factor<set>();
    if constexpr (Prefetches)
      if (mu >= 2) prefetch_next(leg, rhs);
    if (code < 0) [[unlikely]] {
      load_special(view.neighbourhood.special[~code], in, static_cast<const Stored*>(call.ghost), view.vectors.n_rhs,
                   rhs, view.phase[2 * mu + (forward ? 0 : 1)], factor, gathered);
      if constexpr (is_fixed_point<Stored>) return load_vector(static_cast<const Real*>(gathered));
    }
    const Stored* from = neighbour(code, rhs);
    if constexpr (is_fixed_point<Stored>) {
      return load_vector(from, (code & 1) == 0 ? factor : -factor);
    } else {
      return load_vector(code < 0 ? gathered : from, code < 0 ? Real(1) : (code & 1) == 0 ? factor : -factor);
    }
  }
};

}  // namespace

}  // namespace staghorn
