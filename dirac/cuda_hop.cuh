// The hop on the device: one thread a site and tile of right-hand sides, neighbours by arithmetic, links streamed past
// the caches, and the line of CG that uses the hop fused to it. A Finish runs in the last block of the grid, when every
// sum is complete: CG's scalars are computed there (solver/), nothing by default.
#pragma once

#include <algorithm>
#include <type_traits>

#include "dirac/cuda_fields.cuh"
#include "dirac/cuda_sites.cuh"
#include "dirac/cuda_sums.cuh"
#include "dirac/eight_reals.hpp"
#include "dirac/hop_kernel.hpp"
#include "dirac/kernels.hpp"

namespace staghorn::cuda {

constexpr int hop_threads = 128;
constexpr int update_threads = 256;

// Where the faces of a vector lie: of a ghost that is read, or where faces are sent. Face f holds face_sites of
// direction f / 2.
struct Faces {
  void* face[8];
};

inline Faces faces(const FacePointers& pointers) {
  Faces faces;
  for (int face = 0; face < 8; ++face) faces.face[face] = pointers[face];
  return faces;
}

struct HopArguments {
  LocalSites sites;  // of the target parity
  const void *links_here, *links_there, *in, *p;
  const void* ghost_links[4];  // links behind the sites x_mu = 0
  Faces ghosts;                // of in
  Faces push;                  // where the faces of out go as well; nullptr: nowhere
  void* out;
  int n_rhs;
  bool antiperiodic[8], phase[8];  // per hop, where it leaves the global lattice
  double cosine[4], sine[4];
  double four_m2;
  const double* alpha;  // per right-hand side, on the device
  const double* bound;  // of the sums, per right-hand side; nullptr: no sums
  SumCell* cells;       // cells_per_sum for each right-hand side
};

// done(): nothing is left to do for this kernel;  ():  called by all threads of every block when its sums are added.
struct NoFinish {
  const int* flag = nullptr;  // of a loop that is done
  __device__ bool done() const { return flag && __ldcg(flag) != 0; }
  __device__ void operator()() const {}
};

// Where the vectors of a right-hand side begin, in stored reals.
template <class Stored>
__device__ __forceinline__ long long vector_offset(int rhs, int sites) {
  return (long long)rhs * vector_places<Stored> * sites;
}

// Ghosts: some neighbours may lie there. Phases: some boundary has one other than +-1. In fixed point links stay in
// their unit, which the vectors take instead: 6 products a link, not 18.
template <class Stored, int Reals, bool Ghosts, bool Phases>
struct CudaAccess {
  using Real = Arithmetic<Stored>;
  const HopArguments& a;
  const Place& place;
  int first_rhs;

  __device__ __forceinline__ bool leaves(int mu, bool forward) const {
    return Ghosts && a.sites.cut[mu] && place.at_edge(a.sites, mu, forward);
  }

  // The neighbour's index among the sites of its parity, where it is on this rank.
  __device__ __forceinline__ int neighbour(int mu, bool forward) const {
    const int half_row = a.sites.extents[0] / 2, site = place.site;
    const bool wraps = place.at_edge(a.sites, mu, forward);
    if (mu == 0) {
      if ((place.x[0] & 1) != int(forward)) return site;
      if (forward) return wraps ? site - (half_row - 1) : site + 1;
      return wraps ? site + (half_row - 1) : site - 1;
    }
    int stride = half_row;
    for (int nu = 1; nu < mu; ++nu) stride *= a.sites.extents[nu];
    const int around = stride * (a.sites.extents[mu] - 1);
    if (forward) return wraps ? site - around : site + stride;
    return wraps ? site + around : site - stride;
  }

  __device__ __forceinline__ ColorMatrix<Real> load_link(const Stored* links, int V, int lane) const {
    Real reals[Reals];
    load_object<Reals, Caching::streaming>(links, V, lane, reals);
    return link_from_reals<Stored>(reals);
  }

  __device__ __forceinline__ ColorMatrix<Real> link_here(int mu) const {
    return load_link(static_cast<const Stored*>(a.links_here) + (long long)mu * Reals * a.sites.sites, a.sites.sites,
                     place.site);
  }
  __device__ __forceinline__ ColorMatrix<Real> link_behind(int mu) const {
    const bool ghost = leaves(mu, false);
    const Stored* links = static_cast<const Stored*>(a.links_there) + (long long)mu * Reals * a.sites.sites;
    return load_link(ghost ? static_cast<const Stored*>(a.ghost_links[mu]) : links,
                     ghost ? a.sites.face_sites[mu] : a.sites.sites,
                     ghost ? place.in_face(a.sites, mu) : neighbour(mu, false));
  }

  __device__ __forceinline__ ColorVector<Real> vector(int mu, bool forward, int r) const {
    const int hop = 2 * mu + (forward ? 0 : 1);
    const bool ghost = leaves(mu, forward);
    const Stored* vectors = static_cast<const Stored*>(ghost ? a.ghosts.face[hop] : a.in);
    const int V = ghost ? a.sites.face_sites[mu] : a.sites.sites;
    const int lane = ghost ? place.in_face(a.sites, mu) : neighbour(mu, forward);
    int exponent = 0;  // eta_mu(x) = (-1)^exponent
    for (int nu = 0; nu < mu; ++nu) exponent += place.x[nu];
    const bool at_edge = place.at_edge(a.sites, mu, forward);
    const bool negative = (exponent & 1) ^ (at_edge && a.antiperiodic[hop]);
    const Real sign = negative ? Real(-1) : Real(1);
    Real reals[6];
    load_vector<Caching::read_only>(vectors + vector_offset<Stored>(first_rhs + r, V), V, lane, reals,
                                    sign * link_unit<Stored, Reals>);
    if (Phases && a.phase[hop] && at_edge) {
      const Real cosine = Real(a.cosine[mu]), sine = Real(forward ? a.sine[mu] : -a.sine[mu]);
#pragma unroll
      for (int c = 0; c < 3; ++c) {
        const Real re = reals[2 * c], im = reals[2 * c + 1];
        reals[2 * c] = multiply_add(-sine, im, cosine * re);
        reals[2 * c + 1] = multiply_add(sine, re, cosine * im);
      }
    }
    return as_vector(reals);
  }
};

// Stores the value at a site of a vector's face where that face goes.
template <class Stored>
__device__ __forceinline__ void push_faces(const LocalSites& sites, const Place& place, const Faces& push, int rhs,
                                           const Arithmetic<Stored> (&v)[6]) {
#pragma unroll
  for (int face = 0; face < 8; ++face) {
    const int mu = face / 2;
    if (!push.face[face] || !place.at_edge(sites, mu, face % 2 == 1)) continue;
    const int V = sites.face_sites[mu];
    store_vector(static_cast<Stored*>(push.face[face]) + vector_offset<Stored>(rhs, V), V, place.in_face(sites, mu), v);
  }
}

// |v|^2 in double, colours in order: the contribution of a site.
template <class Real>
__device__ __forceinline__ double site_norm2(const Real (&v)[6]) {
  double norm2 = 0;
#pragma unroll
  for (int k = 0; k < 6; ++k) norm2 = multiply_add(double(v[k]), double(v[k]), norm2);
  return norm2;
}

// The hop and what is done with it at one site, for one tile of right-hand sides.
template <class Stored, int Reals, HopUse Use, int Tile, bool Ghosts, bool Phases>
__device__ __forceinline__ void compute_site(const HopArguments& a, const Place& place, int rhs,
                                             ThreadSum (&sums)[Tile]) {
  using Real = Arithmetic<Stored>;
  ColorVector<Real> acc[Tile];
  hop_site<Tile>(CudaAccess<Stored, Reals, Ghosts, Phases>{a, place, rhs}, acc);
#pragma unroll
  for (int r = 0; r < Tile; ++r) {
    const long long offset = vector_offset<Stored>(rhs + r, a.sites.sites);
    Stored* out = static_cast<Stored*>(a.out) + offset;
    Real v[6] = {acc[r].c[0].re, acc[r].c[0].im, acc[r].c[1].re, acc[r].c[1].im, acc[r].c[2].re, acc[r].c[2].im};
    if constexpr (Use == HopUse::update_residual) {
      const Real four_m2 = Real(a.four_m2), alpha = Real(-a.alpha[rhs + r]);
      Real p[6], residual[6];
      load_vector<Caching::read_only>(static_cast<const Stored*>(a.p) + offset, a.sites.sites, place.site, p);
      load_vector<Caching::plain>(out, a.sites.sites, place.site, residual);
#pragma unroll
      for (int k = 0; k < 6; ++k) v[k] = multiply_add(alpha, multiply_add(four_m2, p[k], -v[k]), residual[k]);
    }
    if constexpr (Ghosts && Use == HopUse::store_norm) push_faces<Stored>(a.sites, place, a.push, rhs + r, v);
    const auto stored = store_vector(out, a.sites.sites, place.site, v);
    if (a.bound) sums[r].add(site_norm2(stored.real), a.bound[rhs + r]);
  }
}

// Blocks that a multiprocessor must hold at once; 0: the compiler chooses. In fixed point it would keep so many loads
// in flight that too few threads fit (hop at 32^3x64, 12 reals, on one H200: 81 us, with 7 blocks 65).
template <class Stored, int Tile>
constexpr int least_blocks = is_fixed_point<Stored>&& Tile == 1 ? 7 : 0;

// The chunks of one tile of right-hand sides on one set of sites follow each other, so that all but the first find the
// links in cache; the number of tiles divides the number of blocks, so a block keeps its tile. Cut: the range may hold
// sites of the boundary.
template <class Stored, int Reals, HopUse Use, int Tile, bool Cut, bool Phases, class Finish>
__global__ void __launch_bounds__(hop_threads, least_blocks<Stored, Tile>)
    hop_kernel(const HopArguments a, const ChunkRange range, const Finish finish) {
  if (finish.done()) return;
  const int tiles = a.n_rhs / Tile;
  const int rhs = int(blockIdx.x) % tiles * Tile;
  ThreadSum sums[Tile];
  for (int k = int(blockIdx.x) / tiles; k < range.count; k += int(gridDim.x) / tiles) {
    Place place;
    if (Cut && is_listed<hop_threads>(a.sites, range, k)) {
      if (find_place<hop_threads, true>(a.sites, range, k, place))
        compute_site<Stored, Reals, Use, Tile, true, Phases>(a, place, rhs, sums);
    } else if (find_place<hop_threads, false>(a.sites, range, k, place)) {
      compute_site<Stored, Reals, Use, Tile, false, Phases>(a, place, rhs, sums);
    }
  }
  if (!a.bound) return;
#pragma unroll
  for (int r = 0; r < Tile; ++r)
    sums[r].template flush<hop_threads>(a.bound[rhs + r], a.cells + (rhs + r) * cells_per_sum);
  finish();
}

struct DirectionArguments {
  LocalSites sites;
  void *x, *p;
  const void* r;
  Faces push;                          // where the faces of p go as well
  const double *alpha, *beta, *bound;  // per right-hand side, on the device
  SumCell* cells;
};

// x += alpha p;  p = r + beta p;  sum |p|^2.  blockIdx.y is the right-hand side. In fixed point x is in float.
template <class Stored, class Finish>
__global__ void __launch_bounds__(update_threads)
    direction_kernel(const DirectionArguments a, const ChunkRange range, const Finish finish) {
  using Real = Arithmetic<Stored>;
  if (finish.done()) return;
  const int rhs = int(blockIdx.y), V = a.sites.sites;
  Real* const all_x = static_cast<Real*>(a.x) + vector_offset<Real>(rhs, V);
  Stored* const all_p = static_cast<Stored*>(a.p) + vector_offset<Stored>(rhs, V);
  const Stored* const all_r = static_cast<const Stored*>(a.r) + vector_offset<Stored>(rhs, V);
  const Real alpha = Real(a.alpha[rhs]), beta = Real(a.beta[rhs]);
  const double bound = a.bound[rhs];
  ThreadSum sum;
  for (int k = int(blockIdx.x); k < range.count; k += int(gridDim.x)) {
    Place place;
    const bool listed = is_listed<update_threads>(a.sites, range, k);
    if (!(listed ? find_place<update_threads, true>(a.sites, range, k, place)
                 : find_place<update_threads, false>(a.sites, range, k, place)))
      continue;
    Real x[6], p[6], r[6];
    load_vector<Caching::streaming>(all_x, V, place.site, x);
    load_vector<Caching::plain>(all_p, V, place.site, p);
    load_vector<Caching::read_only>(all_r, V, place.site, r);
#pragma unroll
    for (int k = 0; k < 6; ++k) {
      x[k] = multiply_add(alpha, p[k], x[k]);
      p[k] = multiply_add(beta, p[k], r[k]);
    }
    store_vector(all_x, V, place.site, x);
    const auto stored = store_vector(all_p, V, place.site, p);
    if (listed) push_faces<Stored>(a.sites, place, a.push, rhs, p);
    sum.add(site_norm2(stored.real), bound);
  }
  sum.flush<update_threads>(bound, a.cells + rhs * cells_per_sum);
  finish();
}

// What of the lattice a launch works on, and where.
struct Launch {
  cudaStream_t stream = nullptr;
  HopPart part = HopPart::all;
  bool reversed = false;
};

HopArguments hop_arguments(const HopView& view);

// Launches the hop kernel for run-time precision, links and number of right-hand sides: of the tiles that it is made
// for, the largest that divides these and is not above the one chosen.
template <class Stored, int Reals, HopUse Use, class Finish>
void launch_hop_tiles(const HopArguments& a, const Finish& finish, const Launch& how, const LaunchChoice& choice) {
  const ChunkRange range = chunk_range(a.sites, hop_threads, how.part, how.reversed);
  if (range.count == 0) return;
  const auto launch = [&](auto tile, auto cut, auto phases) {
    constexpr int Tile = decltype(tile)::value;
    const int tiles = a.n_rhs / Tile, chunks = range.count * tiles;
    const auto kernel = hop_kernel<Stored, Reals, Use, Tile, decltype(cut)::value, decltype(phases)::value, Finish>;
    const int wanted = a.bound ? grid_size(kernel, hop_threads, chunks, choice.waves) : chunks;
    const int blocks = (wanted + tiles - 1) / tiles * tiles;
    kernel<<<blocks, hop_threads, 0, how.stream>>>(a, range, finish);
    STAGHORN_CUDA_CHECK(cudaGetLastError());
  };
  constexpr std::integral_constant<int, 1> one;
  constexpr std::integral_constant<int, 2> two;
  constexpr std::integral_constant<int, 3> three;
  constexpr std::integral_constant<int, 4> four;
  constexpr std::true_type yes;
  constexpr std::false_type no;
  const auto takes = [&](int tile) { return tile <= choice.tile && a.n_rhs % tile == 0; };
  const bool cut = a.sites.boundary_sites > 0 && how.part != HopPart::interior;
  if constexpr (is_fixed_point<Stored>) {  // bound by instructions: the usual case is a kernel of its own
    const bool phases = std::any_of(a.phase, a.phase + 8, [](bool phase) { return phase; });
    if (cut || phases) return launch(one, yes, yes);
    if (takes(3)) return launch(three, no, no);
    launch(one, no, no);
  } else if (cut) {
    if (takes(4)) return launch(four, yes, yes);
    if (takes(3)) return launch(three, yes, yes);
    launch(one, yes, yes);
  } else {
    if (takes(8)) return launch(std::integral_constant<int, 8>(), no, yes);
    if (takes(4)) return launch(four, no, yes);
    if (takes(3)) return launch(three, no, yes);
    if (takes(2)) return launch(two, no, yes);
    launch(one, no, yes);
  }
}

template <HopUse Use, class Finish>
void launch_hop(const HopView& view, const HopArguments& a, const Finish& finish, const Launch& how) {
  const LaunchChoice& choice = Use == HopUse::update_residual ? view.launches.residual : view.launches.hop;
  with_stored(view.precision, a.in, [&]<class Stored>(const Stored*) {
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
  const auto launch = [&](const auto kernel) {
    const dim3 grid(grid_size(kernel, update_threads, range.count, view.launches.direction.waves), view.n_rhs);
    kernel<<<grid, update_threads, 0, how.stream>>>(a, range, finish);
    STAGHORN_CUDA_CHECK(cudaGetLastError());
  };
  with_stored(view.precision, a.r, [&]<class Stored>(const Stored*) { launch(direction_kernel<Stored, Finish>); });
}

}  // namespace staghorn::cuda
