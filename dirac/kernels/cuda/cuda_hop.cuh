// The hop on the device. One thread works on a site and a tile of right-hand sides, and on the line of CG that uses the
// hop (for tiles from 4 on: cuda_hop_many.cuh). A Finish runs in the last block of the grid, when every sum is
// complete: CG computes its scalars there (solver/); by default nothing happens.
#pragma once

#include <algorithm>
#include <type_traits>

#include "dirac/algebra/dispatch.hpp"
#include "dirac/fields/cuda_spill.cuh"
#include "dirac/kernels/cuda/cuda_hop_many.cuh"
#include "dirac/kernels/cuda/cuda_hop_site.cuh"
#include "dirac/kernels/cuda/cuda_launch.cuh"
#include "dirac/kernels/hop_tiles.hpp"
#include "dirac/kernels/hop_view.hpp"

namespace staghorn::cuda {

constexpr int update_threads = 256;
// Blocks of update_threads that a multiprocessor must hold at once.
template <class Stored>
constexpr int update_blocks = sizeof(Stored) == 8 ? 3 : 5;

// A Finish. done(): the kernel has nothing to do.  (): called by all threads of every block after its sums are added.
// takes_chunks: chunks of the last rounds are taken (Walk); the Finish then sets their counters back to 0. flag(), on
// the host: what done() reads. as_kernel(stream): queues what () does as a kernel of its own, after kernels that do not
// call it.
template <bool takes>
struct FlagOnly {
  static constexpr bool takes_chunks = takes;
  const int* done_flag = nullptr;  // not 0 once the loop is done
  __device__ bool done() const { return done_flag && __ldcg(done_flag) != 0; }
  __device__ void operator()() const {}
  const int* flag() const { return done_flag; }
  void as_kernel(cudaStream_t) const {}
};
using NoFinish = FlagOnly<false>;
// For the hops of improved quarks. They take long to compile, so that there is one kernel for all finishes: what
// follows is a kernel of its own.
using LateFinish = FlagOnly<true>;

// Blocks that a multiprocessor must hold at once; 0: the compiler chooses. Left to itself the compiler keeps so many
// loads in flight that too few threads fit; these bounds gain 3 to 20 % of a hop. Outside loops of CG a small lattice
// does not fill the GPU, so that fewer blocks with more registers are faster; with 8 reals 8 blocks are (in loops the
// compiler keeps to 64 registers by itself).
template <class Stored, class Links, HopUse Use, int Tile, bool Cut, bool InLoop>
constexpr int least_blocks() {
  if (Tile != 1) return 0;
  if (Links::stencil == Stencil::improved) return sizeof(Stored) == 8 ? 4 : is_fixed_point<Stored> ? 5 : 6;
  if (is_fixed_point<Stored>) return 7;
  if (Cut) return sizeof(Stored) == 8 ? 4 : Use == HopUse::update_residual ? 6 : 8;
  if (sizeof(Stored) == 8) return 5;
  if (Links::near == 8) return InLoop ? 0 : 8;
  return InLoop ? 7 : 5;
}

// The tiles of right-hand sides of one chunk of sites follow each other, so that all tiles but the first find the links
// in cache. The number of tiles divides the number of blocks, so a block keeps its tile. Cut: the range may hold sites
// of the boundary.
template <class Stored, class Links, HopUse Use, int Tile, bool Cut, bool Phases, class Finish>
__global__ void __launch_bounds__(hop_threads, least_blocks<Stored, Links, Use, Tile, Cut, Finish::takes_chunks>())
    hop_kernel(const ArgumentsOf<Links::stencil> a, const SharedRange range, const Finish finish) {
  STAGHORN_SPILL_TO_SHARED_MEMORY;
  if (finish.done()) return;
  int first_chunk = int(blockIdx.x);
  const int tile = a.tiles.take_digit(first_chunk), rhs = tile * Tile;
  ThreadSum sums[Tile];
  const auto compute = [&](const Place& place, auto ghosts) {
    constexpr bool Ghosts = decltype(ghosts)::value;
    const StoredVectors<Stored> neighbours{a.in, a.ghosts, rhs};
    ColorVector<Arithmetic<Stored>> acc[Tile];
    hop_site<Tile>(CudaAccess<Stored, Links, Ghosts, Phases>{a, place, neighbours}, acc);
    finish_site<Stored, Links::stencil, Use, Ghosts>(a, place, rhs, acc, sums,
                                                     ScalarsOfCall<Stored, (Tile > 1)>{a, rhs});
  };
  for (Walk<hop_threads, 1, Finish::takes_chunks, ThreadSum::max_contributions> at(range, first_chunk, a.taken + tile);
       at.more(); at.advance()) {
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

// A site of the direction update, for one right-hand side (cg_site.hpp).
template <class Stored>
struct DirectionSite {
  using Real = Arithmetic<Stored>;
  int V, site;
  Real* x;
  Real alpha;
  const Stored* p;
  Real factor;
  const Stored* r;

  __device__ __forceinline__ Real beta() const { return factor; }
  __device__ __forceinline__ ColorVector<Real> load_p() const { return vector_at<Caching::plain>(p, V, site); }
  __device__ __forceinline__ ColorVector<Real> load_r() const { return vector_at<Caching::plain>(r, V, site); }
  __device__ __forceinline__ void grow(const ColorVector<Real>& direction) const {
    if (alpha == 0) return;
    ColorVector<Real> sum = vector_at<Caching::streaming>(x, V, site);
    add_scaled(sum, alpha, direction);
    store_vector(x, V, site, reals_of(sum).real);
  }
};

// At one site:  x += alpha p, where alpha is not 0;  p = r + beta p;  sum |p|^2.  x, all_p and all_r are the vectors of
// one right-hand side; in fixed point x is in float. at_boundary: the site may lie in a face that goes somewhere.
// depth: see push_faces.
template <class Stored, int depth>
__device__ __forceinline__ void update_direction_site(const LocalSites& sites, const Place& place, int rhs,
                                                      Arithmetic<Stored>* x, Arithmetic<Stored> alpha, Stored* all_p,
                                                      Arithmetic<Stored> beta, const Stored* all_r, const Faces& push,
                                                      bool at_boundary, ThreadSum& sum, double bound) {
  const auto p = reals_of(next_direction(DirectionSite<Stored>{sites.V, place.site, x, alpha, all_p, beta, all_r}));
  if (at_boundary) push_faces<Stored, depth>(sites, place, push, rhs, p.real);
  const auto stored = store_vector(all_p, sites.V, place.site, p.real);
  sum.add(contribution(stored.real), bound);
}

// The direction update on all sites. blockIdx.y is the right-hand side.
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
  for (Walk<update_threads, 1, Finish::takes_chunks, ThreadSum::max_contributions> at(range, int(blockIdx.x),
                                                                                      a.taken + rhs);
       at.more(); at.advance()) {
    const int k = at.chunk(), thread = int(threadIdx.x);
    Place place;
    const bool listed = range.chunks.lists(k);
    if (listed ? find_place<update_threads, true>(a.sites, range.chunks, k, thread, place)
               : find_place<update_threads, false>(a.sites, range.chunks, k, thread, place))
      update_direction_site<Stored, 0>(a.sites, place, rhs, all_x, alpha, all_p, beta, all_r, a.push, listed, sum,
                                       bound);
  }
  flush<update_threads>(sum, bound, a.cells + rhs * cells_per_sum);
  finish();
}

// On which part of the lattice a launch works, and on which stream.
struct Launch {
  cudaStream_t stream = nullptr;
  HopPart part = HopPart::all;
  bool reversed = false;
};

ImprovedArguments hop_arguments(const HopView& view);
// With the vectors, faces and scalars of a call.
ImprovedArguments hop_arguments(const HopView& view, const HopCall& call);
DirectionArguments direction_arguments(const HopView& view, const DirectionCall& call);

// The blocks of a hop kernel.
struct HopBlocks {
  int threads, sites;  // sites: of a chunk
  int shared_bytes;
  int taken_rounds;  // Walk
};

// Launches the hop kernel for a run-time number of right-hand sides: with the largest compiled tile that divides the
// number and is not above the chosen tile.
template <class Stored, class Links, HopUse Use, class Finish>
void launch_hop_tiles(const ArgumentsOf<Links::stencil>& a, const Finish& finish, const Launch& how,
                      const LaunchChoice& choice) {
  const auto launch = [&](const auto kernel, int tile, const HopBlocks& of) {
    const ChunkRange range = chunk_range(a.sites, of.sites, how.part, how.reversed);
    if (range.count == 0) return;
    const int tiles = a.n_rhs / tile, chunks = range.count * tiles;
    const int wanted = a.bound ? grid_size(kernel, of.threads, chunks, choice.waves, of.shared_bytes) : chunks;
    const int blocks = (wanted + tiles - 1) / tiles * tiles;
    const SharedRange shared = share_range(range, blocks / tiles, a.taken ? of.taken_rounds : 0);
    ArgumentsOf<Links::stencil> of_tiles = a;
    of_tiles.tiles = Divisor(tiles);
    kernel<<<blocks, of.threads, of.shared_bytes, how.stream>>>(of_tiles, shared, finish);
    STAGHORN_CUDA_CHECK_LAUNCH(hop_kernel);
  };
  const auto launch_tile = [&](auto tile, auto cut, auto many_phases) {
    constexpr int Tile = decltype(tile)::value;
    constexpr bool Cut = decltype(cut)::value;
    if constexpr (Tile < least_tile_of_many) {
      constexpr bool Phases = Cut || !is_fixed_point<Stored>;
      launch(hop_kernel<Stored, Links, Use, Tile, Cut, Phases, Finish>, Tile,
             {.threads = hop_threads, .sites = hop_threads, .shared_bytes = 0, .taken_rounds = taken_by_length});
    } else {
      constexpr bool Phases = decltype(many_phases)::value;
      using Many = ManyRhs<Stored, Links, Tile>;
      const auto kernel = hop_many_kernel<Stored, Links, Use, Tile, Cut, Phases, Finish>;
      STAGHORN_CUDA_CHECK(
          cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, Many::shared_bytes));
      launch(kernel, Tile,
             {.threads = many_threads,
              .sites = Many::sites,
              .shared_bytes = Many::shared_bytes,
              .taken_rounds = Many::taken_rounds});
    }
  };
  constexpr std::true_type yes;
  constexpr std::false_type no;
  const bool cut = a.sites.boundary_sites > 0 && how.part != HopPart::interior;
  const bool phases = std::any_of(a.phase, a.phase + 8, [](bool phase) { return phase; });
  const int most = phases ? std::min(choice.tile, least_tile_of_many - 1) : choice.tile;
  using Tiles = HopTiles<sizeof(Stored), Links::stencil>;
  if constexpr (!is_fixed_point<Stored> && Links::stencil == Stencil::naive)
    if (phases && choice.tile > most && a.n_rhs % least_tile_of_many == 0)
      return launch_tile(std::integral_constant<int, least_tile_of_many>(), yes, yes);
  const auto with_tiles = [&]<class List>(List, auto cut) {
    List::with_largest(a.n_rhs, most, [&](auto tile) { launch_tile(tile, cut, no); });
  };
  if (cut || (is_fixed_point<Stored> && phases)) return with_tiles(typename Tiles::cut(), yes);
  with_tiles(typename Tiles::whole(), no);
}

template <HopUse Use>
const LaunchChoice& choice_for(const HopView& view) {
  return Use == HopUse::update_residual ? view.launch.choices.residual : view.launch.choices.hop;
}

// Launches the hop of improved quarks, whose kernels are compiled in files of their own (cuda_improved_*.cu).
template <class Stored, HopUse Use>
void launch_improved_hop(const HopView& view, const ImprovedArguments& a, const LateFinish& finish, const Launch& how);

template <HopUse Use, class Finish>
void launch_hop(const HopView& view, const ImprovedArguments& a, const Finish& finish, const Launch& how) {
  if (view.stencil == Stencil::improved) {
    with_stored(view.vectors.precision, a.in, [&]<class Stored>(const Stored*) {
      launch_improved_hop<Stored, Use>(view, a, LateFinish{finish.flag()}, how);
    });
    return finish.as_kernel(how.stream);
  }
  with_stored_links(view.vectors.precision, view.near.reconstruct, a.in,
                    [&]<class Stored, int Reals>(const Stored*, std::integral_constant<int, Reals>) {
                      launch_hop_tiles<Stored, LinkReals<Reals>, Use>(a, finish, how, choice_for<Use>(view));
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
