// The hop on the device: one thread a site and tile of right-hand sides, neighbours by arithmetic, links streamed past
// the caches, and the line of CG that uses the hop fused to it (for 4 and more right-hand sides: cuda_hop_many.cuh). A
// Finish runs in the last block of the grid, when every sum is complete: CG's scalars are computed there (solver/),
// nothing by default.
#pragma once

#include <algorithm>
#include <type_traits>

#include "dirac/fields/cuda_spill.cuh"
#include "dirac/kernels/cuda/cuda_hop_many.cuh"
#include "dirac/kernels/cuda/cuda_hop_site.cuh"
#include "dirac/kernels/hop_tiles.hpp"

namespace staghorn::cuda {

constexpr int update_threads = 256;
// Blocks of it that a multiprocessor must hold at once.
template <class Stored>
constexpr int update_blocks = sizeof(Stored) == 8 ? 3 : 5;

// done(): nothing is left to do for this kernel;  ():  called by all threads of every block when its sums are added;
// takes_chunks: whether the last chunks are taken (Walk): it leaves the counters of them 0 then.
struct NoFinish {
  static constexpr bool takes_chunks = false;
  const int* flag = nullptr;  // of a loop that is done
  __device__ bool done() const { return flag && __ldcg(flag) != 0; }
  __device__ void operator()() const {}
};

// Blocks that a multiprocessor must hold at once; 0: the compiler chooses. In fixed point it would keep so many loads
// in flight that too few threads fit (hop at 32^3x64, 12 reals, on one H200: 81 us, with 7 blocks 65), on a cut lattice
// at times alike (fp64: 150 registers, 302 us an iteration at 32^3x64 on two H200, at most 128 288), and else too: fp32
// with 18 reals 372 us an iteration, with 7 blocks 357; fp64 with 8 reals 412, with 5 blocks 398. Outside loops of CG,
// fp32 at 16^3x32, which does not fill all: a hop with 12 reals 6.6 us, with 5 blocks 6.2; and with 8 reals at 32^3x64,
// where 68 registers let 7 blocks in: 83.5 us, with 8 blocks 80.9 (in loops the compiler keeps to 64 by itself).
template <class Stored, int Reals, HopUse Use, int Tile, bool Cut, bool InLoop>
constexpr int least_blocks() {
  if (Tile != 1) return 0;
  if (is_fixed_point<Stored>) return 7;
  if (Cut) return sizeof(Stored) == 8 ? 4 : Use == HopUse::update_residual ? 6 : 8;
  if (sizeof(Stored) == 8) return 5;
  if (Reals == 8) return InLoop ? 0 : 8;
  return InLoop ? 7 : 5;
}

// The chunks of one tile of right-hand sides on one set of sites follow each other, so that all but the first find the
// links in cache; the number of tiles divides the number of blocks, so a block keeps its tile. Cut: the range may hold
// sites of the boundary.
template <class Stored, int Reals, HopUse Use, int Tile, bool Cut, bool Phases, class Finish>
__global__ void __launch_bounds__(hop_threads, least_blocks<Stored, Reals, Use, Tile, Cut, Finish::takes_chunks>())
    hop_kernel(const HopArguments a, const SharedRange range, const Finish finish) {
  STAGHORN_SPILL_TO_SHARED_MEMORY;
  if (finish.done()) return;
  int first_chunk = int(blockIdx.x);
  const int tile = a.tiles.take_digit(first_chunk), rhs = tile * Tile;
  ThreadSum sums[Tile];
  const auto compute = [&](const Place& place, auto ghosts) {
    constexpr bool Ghosts = decltype(ghosts)::value;
    const StoredVectors<Stored> neighbours{a.in, a.ghosts, rhs};
    ColorVector<Arithmetic<Stored>> acc[Tile];
    hop_site<Tile>(CudaAccess<Stored, Reals, Ghosts, Phases>{a, place, neighbours}, acc);
    finish_site<Stored, Use, Ghosts>(a, place, rhs, acc, sums, ScalarsOfCall<Stored, (Tile > 1)>{a, rhs});
  };
  for (Walk<hop_threads, 1, Finish::takes_chunks> at(range, first_chunk, a.taken + tile); at.more(); at.advance()) {
    const int k = at.chunk(), thread = int(threadIdx.x);
    Place place;
    if (Cut && range.chunks.lists(k)) {
      if (find_place<hop_threads, true>(a.sites, range.chunks, k, thread, place)) compute(place, std::true_type());
    } else if (find_place<hop_threads, false>(a.sites, range.chunks, k, thread, place)) {
      compute(place, std::false_type());
    }
  }
  if (!a.bound) return;
#pragma unroll
  for (int r = 0; r < Tile; ++r) flush<hop_threads>(sums[r], a.bound[rhs + r], a.cells + (rhs + r) * cells_per_sum);
  finish();
}

struct DirectionArguments {
  LocalSites sites;
  void *x, *p;
  const void* r;
  Faces push;                          // where the faces of p go as well
  const double *alpha, *beta, *bound;  // per right-hand side, on the device
  SumCell* cells;                      // cells_per_sum for each right-hand side
  unsigned* taken;                     // chunks, for each right-hand side (Walk)
};

// At one site:  x += alpha p, where alpha is not 0;  p = r + beta p;  sum |p|^2.  Vectors of one right-hand side; in
// fixed point x is in float. at_boundary: its face may go somewhere.
template <class Stored>
__device__ __forceinline__ void update_direction_site(const LocalSites& sites, const Place& place, int rhs,
                                                      Arithmetic<Stored>* x, Arithmetic<Stored> alpha, Stored* all_p,
                                                      Arithmetic<Stored> beta, const Stored* all_r, const Faces& push,
                                                      bool at_boundary, ThreadSum& sum, double bound) {
  const int V = sites.V;
  Arithmetic<Stored> p[6], r[6];
  load_vector<Caching::plain>(all_p, V, place.site, p);
  load_vector<Caching::plain>(all_r, V, place.site, r);
  add_to_solution<Caching::streaming>(x, V, place.site, alpha, p);
  next_direction(beta, p, r);
  if (at_boundary) push_faces<Stored>(sites, place, push, rhs, p);
  const auto stored = store_vector(all_p, V, place.site, p);
  sum.add(site_norm2(stored.real), bound);
}

// The same on all sites. blockIdx.y is the right-hand side.
template <class Stored, class Finish>
__global__ void __launch_bounds__(update_threads, update_blocks<Stored>)
    direction_kernel(const DirectionArguments a, const SharedRange range, const Finish finish) {
  using Real = Arithmetic<Stored>;
  if (finish.done()) return;
  const int rhs = int(blockIdx.y), V = a.sites.V;
  Real* const all_x = static_cast<Real*>(a.x) + vector_offset<Real>(rhs, V);
  Stored* const all_p = static_cast<Stored*>(a.p) + vector_offset<Stored>(rhs, V);
  const Stored* const all_r = static_cast<const Stored*>(a.r) + vector_offset<Stored>(rhs, V);
  const Real alpha = a.x ? Real(a.alpha[rhs]) : 0, beta = Real(a.beta[rhs]);
  const double bound = a.bound[rhs];
  ThreadSum sum;
  for (Walk<update_threads, 1, Finish::takes_chunks> at(range, int(blockIdx.x), a.taken + rhs); at.more();
       at.advance()) {
    const int k = at.chunk(), thread = int(threadIdx.x);
    Place place;
    const bool listed = range.chunks.lists(k);
    if (listed ? find_place<update_threads, true>(a.sites, range.chunks, k, thread, place)
               : find_place<update_threads, false>(a.sites, range.chunks, k, thread, place))
      update_direction_site(a.sites, place, rhs, all_x, alpha, all_p, beta, all_r, a.push, listed, sum, bound);
  }
  flush<update_threads>(sum, bound, a.cells + rhs * cells_per_sum);
  finish();
}

// What of the lattice a launch works on, and where.
struct Launch {
  cudaStream_t stream = nullptr;
  HopPart part = HopPart::all;
  bool reversed = false;
};

HopArguments hop_arguments(const HopView& view);
// With the vectors, faces and scalars of a call.
HopArguments hop_arguments(const HopView& view, const HopCall& call);
DirectionArguments direction_arguments(const HopView& view, const DirectionCall& call);

// The blocks of a hop kernel.
struct HopBlocks {
  int threads, sites;  // sites: of a chunk
  int shared_bytes;
  int taken_rounds;  // Walk
  int most_chunks;   // that keep the sums of a thread exact
};

// Launches the hop kernel for run-time precision, links and number of right-hand sides: of the tiles that it is made
// for, the largest that divides these and is not above the one chosen.
template <class Stored, int Reals, HopUse Use, class Finish>
void launch_hop_tiles(const HopArguments& a, const Finish& finish, const Launch& how, const LaunchChoice& choice) {
  const auto launch = [&](const auto kernel, int tile, const HopBlocks& of) {
    const ChunkRange range = chunk_range(a.sites, of.sites, how.part, how.reversed);
    if (range.count == 0) return;
    const int tiles = a.n_rhs / tile, chunks = range.count * tiles;
    const int wanted =
        a.bound ? grid_size(kernel, of.threads, chunks, choice.waves, of.shared_bytes, of.most_chunks) : chunks;
    const int blocks = (wanted + tiles - 1) / tiles * tiles;
    const SharedRange shared = share_range(range, blocks / tiles, of.taken_rounds);
    HopArguments of_tiles = a;
    of_tiles.tiles = Divisor(tiles);
    kernel<<<blocks, of.threads, of.shared_bytes, how.stream>>>(of_tiles, shared, finish);
    STAGHORN_CUDA_CHECK_LAUNCH(hop_kernel);
  };
  const auto launch_tile = [&](auto tile, auto cut, auto many_phases) {
    constexpr int Tile = decltype(tile)::value;
    constexpr bool Cut = decltype(cut)::value;
    if constexpr (Tile < least_tile_of_many) {
      constexpr bool Phases = Cut || !is_fixed_point<Stored>;
      launch(hop_kernel<Stored, Reals, Use, Tile, Cut, Phases, Finish>, Tile,
             {.threads = hop_threads,
              .sites = hop_threads,
              .shared_bytes = 0,
              .taken_rounds = taken_rounds,
              .most_chunks = ThreadSum::max_in_block_share});
    } else {
      constexpr bool Phases = decltype(many_phases)::value;
      using Many = ManyRhs<Stored, Reals, Tile>;
      const auto kernel = hop_many_kernel<Stored, Reals, Use, Tile, Cut, Phases, Finish>;
      STAGHORN_CUDA_CHECK(
          cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, Many::shared_bytes));
      launch(kernel, Tile,
             {.threads = many_threads,
              .sites = Many::sites,
              .shared_bytes = Many::shared_bytes,
              .taken_rounds = Many::taken_rounds,
              .most_chunks = ThreadSum::max_contributions});
    }
  };
  constexpr std::true_type yes;
  constexpr std::false_type no;
  const bool cut = a.sites.boundary_sites > 0 && how.part != HopPart::interior;
  const bool phases = std::any_of(a.phase, a.phase + 8, [](bool phase) { return phase; });
  const int most = phases ? std::min(choice.tile, least_tile_of_many - 1) : choice.tile;
  using Tiles = HopTiles<sizeof(Stored)>;
  if constexpr (!is_fixed_point<Stored>)
    if (phases && choice.tile > most && a.n_rhs % least_tile_of_many == 0)
      return launch_tile(std::integral_constant<int, least_tile_of_many>(), yes, yes);
  const auto with_tiles = [&]<class List>(List, auto cut) {
    List::with_largest(a.n_rhs, most, [&](auto tile) { launch_tile(tile, cut, no); });
  };
  if (cut || (is_fixed_point<Stored> && phases)) return with_tiles(typename Tiles::cut(), yes);
  with_tiles(typename Tiles::whole(), no);
}

template <HopUse Use, class Finish>
void launch_hop(const HopView& view, const HopArguments& a, const Finish& finish, const Launch& how) {
  const LaunchChoice& choice = Use == HopUse::update_residual ? view.launch.choices.residual : view.launch.choices.hop;
  with_stored(view.vectors.precision, a.in, [&]<class Stored>(const Stored*) {
    switch (view.reconstruct) {
      case Reconstruct::none18:
        return launch_hop_tiles<Stored, 18, Use>(a, finish, how, choice);
      case Reconstruct::row12:
        return launch_hop_tiles<Stored, 12, Use>(a, finish, how, choice);
      case Reconstruct::su3_8:
        return launch_hop_tiles<Stored, 8, Use>(a, finish, how, choice);
    }
  });
}

template <class Finish>
void launch_direction(const HopView& view, const DirectionArguments& a, const Finish& finish, const Launch& how) {
  const ChunkRange range = chunk_range(a.sites, update_threads, how.part, how.reversed);
  with_stored(view.vectors.precision, a.r, [&]<class Stored>(const Stored*) {
    const auto kernel = direction_kernel<Stored, Finish>;
    const dim3 grid(grid_size(kernel, update_threads, range.count, view.launch.choices.direction.waves),
                    view.vectors.n_rhs);
    const SharedRange shared = share_range(range, int(grid.x));
    kernel<<<grid, update_threads, 0, how.stream>>>(a, shared, finish);
    STAGHORN_CUDA_CHECK_LAUNCH(direction_kernel);
  });
}

}  // namespace staghorn::cuda
