// A hop over blocks and right-hand sides: what the hops of all stencils share. For the files of this folder alone,
// which are compiled once for each instruction set.
//
// A Hop says what D a is:  hop.compute<Tile>(view, call, block, rhs, gathered, acc)  sets acc for Tile right-hand sides
// from rhs on.
#pragma once

#include <omp.h>

#include <algorithm>

#include "dirac/algebra/lane_sum.hpp"
#include "dirac/kernels/cpu/cpu_access.hpp"
#include "dirac/kernels/cpu/cpu_cg_site.hpp"
#include "dirac/kernels/hop_kernel.hpp"
#include "dirac/kernels/kernel_table.hpp"

#define STAGHORN_STRINGIFY_VALUE(x) #x
#define STAGHORN_STRINGIFY(x) STAGHORN_STRINGIFY_VALUE(x)
#define STAGHORN_JOIN_VALUES(a, b) a##b
#define STAGHORN_JOIN(a, b) STAGHORN_JOIN_VALUES(a, b)
// name_avx2, for what one file of an instruction set offers another.
#define STAGHORN_FOR_ISA(name) STAGHORN_JOIN(name, STAGHORN_ISA)

namespace staghorn {

// Internal linkage: code for one instruction set must never be merged with another's.
namespace {

constexpr int sum_width = vector_bytes / 8;
using ThreadSum = LaneSum<sum_width>;

// Runs work(first, last, sums) over ranges of [0, count) with one set of running sums per thread, and adds them all up.
template <class Work>
void for_ranges(std::int64_t count, int n_sums, const SumGrid* grids, ExactPartial* totals, const Work& work) {
#pragma omp parallel
  {
    ThreadSum sums[max_rhs];
    ExactPartial partials[max_rhs];
    const std::int64_t first = count * omp_get_thread_num() / omp_get_num_threads();
    const std::int64_t last = count * (omp_get_thread_num() + 1) / omp_get_num_threads();
    constexpr std::int64_t batch = ThreadSum::capacity / 2;  // fp32 blocks add twice
    for (std::int64_t begin = first; begin < last; begin += batch) {
      const std::int64_t end = std::min(last, begin + batch);
      work(begin, end, sums);
      for (int r = 0; r < n_sums; ++r) sums[r].flush(grids[r], partials[r]);
    }
#pragma omp critical(staghorn_exact_sums)
    for (int r = 0; r < n_sums; ++r) {
      totals[r].total += partials[r].total;
      totals[r].overflow |= partials[r].overflow;
    }
  }
}

// Runs work(block, sums) over the blocks of the list; over all blocks where it is empty.
template <class Work>
void for_blocks(std::span<const std::int32_t> list, std::int64_t count, int n_sums, const SumGrid* grids,
                ExactPartial* totals, const Work& work) {
  for_ranges(count, n_sums, grids, totals, [list, work](std::int64_t first, std::int64_t last, ThreadSum* sums) {
    const Work work_here = work;  // what it has captured stays in registers
    for (std::int64_t k = first; k < last; ++k) work_here(list.empty() ? k : list[std::size_t(k)], sums);
  });
}

// What a call does with D a, in acc, of the right-hand sides [rhs, rhs + Tile) of a block.
template <class Stored, HopUse Use, int Tile>
STAGHORN_INLINE void finish_tile(const HopView& view, const HopCall& call, std::int64_t block, int rhs, ThreadSum* sums,
                                 ColorVector<Block<Arithmetic<Stored>>> (&acc)[Tile]) {
  using Real = Arithmetic<Stored>;
  STAGHORN_UNROLL
  for (int r = 0; r < Tile; ++r) {
    const std::int64_t vector = block * view.vectors.n_rhs + rhs + r;
    Stored* const out = static_cast<Stored*>(call.out) + vector * vector_stride<Stored>;
    HopSite<Stored> site{call, rhs + r, out, static_cast<Stored*>(call.p) + vector * vector_stride<Stored>,
                         static_cast<Real*>(call.x) + vector * vector_stride<Real>};
    finish_hop<Use>(site, acc[r]);
    store_vector(out, acc[r]);
    if constexpr (Use == HopUse::store_norm || Use == HopUse::update_residual)
      add_norm2(out, sums[rhs + r], call.grids[rhs + r]);
  }
}

// Lanes without a site hold zero.
template <int Tile, class Real>
STAGHORN_INLINE void clear_lanes_without_site(const HopView& view, std::int64_t block,
                                              ColorVector<Block<Real>> (&acc)[Tile]) {
  constexpr int V = lanes_of<Real>;
  if (block != view.vectors.blocks - 1 || view.vectors.lanes_in_last_block == V) [[likely]]
    return;
  STAGHORN_UNROLL
  for (int r = 0; r < Tile; ++r) STAGHORN_UNROLL
  for (int c = 0; c < 3; ++c)
    for (int l = view.vectors.lanes_in_last_block; l < V; ++l) acc[r].c[c].re[l] = acc[r].c[c].im[l] = 0;
}

// D a in acc.
template <class Stored, int Tile, class Hop>
STAGHORN_INLINE void hop_tile(const Hop& hop, const HopView& view, const HopCall& call, std::int64_t block, int rhs,
                              ColorVector<Block<Arithmetic<Stored>>> (&acc)[Tile]) {
  using Real = Arithmetic<Stored>;
  alignas(64) Real gathered[6 * lanes_of<Real>];
  hop.template compute<Tile>(view, call, block, rhs, gathered, acc);
  clear_lanes_without_site<Tile, Real>(view, block, acc);
}

// Several right-hand sides. The use is chosen behind D a, so that the large code of a tile is compiled once for all
// uses.
template <class Stored, int Tile, class Hop>
__attribute__((noinline)) void hop_tile_for_use(const Hop& hop, const HopView& view, const HopCall& call,
                                                std::int64_t block, int rhs, ThreadSum* sums) {
  ColorVector<Block<Arithmetic<Stored>>> acc[Tile];
  hop_tile<Stored>(hop, view, call, block, rhs, acc);
  switch (call.use) {
    case HopUse::store:
      return finish_tile<Stored, HopUse::store>(view, call, block, rhs, sums, acc);
    case HopUse::store_norm:
      return finish_tile<Stored, HopUse::store_norm>(view, call, block, rhs, sums, acc);
    case HopUse::update_residual:
      return finish_tile<Stored, HopUse::update_residual>(view, call, block, rhs, sums, acc);
  }
}

template <class Stored, HopUse Use, class Hop>
void hop_blocks(const Hop& hop, const HopView& view, const HopCall& call) {
  constexpr bool sums_up = Use == HopUse::store_norm || Use == HopUse::update_residual;
  for_blocks(call.blocks, std::int64_t(call.blocks.size()), sums_up ? view.vectors.n_rhs : 0, call.grids, call.sums,
             [&](std::int64_t block, ThreadSum* sums) {
               const int n = view.vectors.n_rhs;
               int rhs = 0;
               for (; rhs + 4 <= n; rhs += 4) hop_tile_for_use<Stored, 4>(hop, view, call, block, rhs, sums);
               if (rhs + 3 == n) return hop_tile_for_use<Stored, 3>(hop, view, call, block, rhs, sums);
               for (; rhs < n; ++rhs) {
                 ColorVector<Block<Arithmetic<Stored>>> acc[1];
                 hop_tile<Stored>(hop, view, call, block, rhs, acc);
                 finish_tile<Stored, Use>(view, call, block, rhs, sums, acc);
               }
             });
}

// Runs work<use>().
template <class Work>
void with_use(HopUse use, const Work& work) {
  switch (use) {
    case HopUse::store:
      return work.template operator()<HopUse::store>();
    case HopUse::store_norm:
      return work.template operator()<HopUse::store_norm>();
    case HopUse::update_residual:
      return work.template operator()<HopUse::update_residual>();
  }
}

template <class Stored, class Hop>
void hop_for_use(const Hop& hop, const HopView& view, const HopCall& call) {
  with_use(call.use, [&]<HopUse Use>() { hop_blocks<Stored, Use>(hop, view, call); });
}

}  // namespace

// The hops of improved quarks, a file each (cpu_improved_*.cpp).
void STAGHORN_FOR_ISA(improved_hop_fp64_)(const HopView& view, const HopCall& call);
void STAGHORN_FOR_ISA(improved_hop_fp32_)(const HopView& view, const HopCall& call);
void STAGHORN_FOR_ISA(improved_hop_fp16_)(const HopView& view, const HopCall& call);

}  // namespace staghorn
