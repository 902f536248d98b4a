// The hop for many right-hand sides. A block takes few sites, and 4, 8 or 16 right-hand sides of each; their threads
// share the links of the site (cuda_shared_links.cuh).
#pragma once

#include "dirac/fields/cuda_spill.cuh"
#include "dirac/kernels/cuda/cuda_hop_site.cuh"
#include "dirac/kernels/cuda/cuda_shared_links.cuh"
#include "dirac/kernels/hop_view.hpp"

namespace staghorn::cuda {

constexpr int many_threads = 64;  // of a block; they meet for every set of links and direction, and fewer meet sooner
static_assert(many_threads >= max_rhs, "the last block computes the scalars, each thread those of a right-hand side");

template <class Stored, class Form, int Tile>
struct ManyRhs {
  static constexpr int most_per_thread = sizeof(Stored) == 4 ? 8 : 4;  // right-hand sides that registers hold
  static constexpr int per_thread = Tile < most_per_thread ? Tile : most_per_thread;
  static constexpr int groups = Tile / per_thread, sites = many_threads / groups;  // of a block
  // Blocks that a multiprocessor must hold. With 4 right-hand sides a thread, more blocks would spill what they gain
  // (decisions 010 and 034).
  static constexpr int least_blocks(bool cut) {
    if (Form::stencil == Stencil::improved) return sizeof(Stored) == 8 || (per_thread == 8 && Form::naik == 9) ? 4 : 6;
    if (sizeof(Stored) == 8 && Tile == 4 && (cut || Form::near == 18)) return 4;
    return per_thread * sizeof(Arithmetic<Stored>) < 32 ? 8 : 6;
  }
  // Chunks that are taken come in order, which keeps neighbours in the second-level cache: fp64 gains the more, the
  // more rounds are taken; fp32 is fastest with 8.
  static constexpr int taken_rounds = sizeof(Stored) == 8 ? 40 : 8;
  template <class Access>
  using Links = SharedLinks<Stored, Form, per_thread, sites, groups, Access>;
  static constexpr int link_bytes = Links<int>::shared_bytes;
  static constexpr int shared_bytes = link_bytes + per_thread * many_threads * int(sizeof(ThreadSum));
};

// The sums of a thread, in shared memory: registers are scarce, and a sum is used once a site.
template <int n>
class SharedSums {
 public:
  __device__ __forceinline__ explicit SharedSums(char* shared) : first_(reinterpret_cast<ThreadSum*>(shared)) {
    for (int r = 0; r < n; ++r) (*this)[r] = ThreadSum();
  }
  __device__ __forceinline__ ThreadSum& operator[](int r) const { return first_[r * many_threads + thread_here()]; }

 private:
  ThreadSum* first_;
};

// As hop_kernel (cuda_hop.cuh), for tiles from least_tile_of_many on.
template <class Stored, class Form, HopUse Use, int Tile, bool Cut, bool Phases, class Finish>
__global__ void __launch_bounds__(many_threads, (ManyRhs<Stored, Form, Tile>::least_blocks(Cut)))
    hop_many_kernel(const ArgumentsOf<Form::stencil> a, const SharedRange range, const Finish finish) {
  if (finish.done()) return;
  using Many = ManyRhs<Stored, Form, Tile>;
  constexpr int n = Many::per_thread;
  extern __shared__ int4 shared_memory[];
  char* const shared = reinterpret_cast<char*>(shared_memory);
  int first_chunk = int(blockIdx.x);
  const int tile = a.tiles.take_digit(first_chunk);
  const int lane = int(threadIdx.x) % Many::sites, group = int(threadIdx.x) / Many::sites;
  const int rhs = tile * Tile + group * n;
  const SharedSums<n> sums(shared + Many::link_bytes);
  const auto compute = [&](int k, auto ghosts) {
    constexpr bool Ghosts = decltype(ghosts)::value;
    const int last = site_count<Ghosts>(a.sites) - 1;
    const Place place =
        place_of<Ghosts, true>(a.sites, min(site_number<Many::sites, Ghosts>(range.chunks, k, lane), last));
    const StoredVectors<Stored> neighbours{a.in, a.ghosts, rhs};
    using Edges = PlaceWithEdges<Form::stencil>;
    using Access = CudaAccess<Stored, Form, Ghosts, Phases, Caching::read_only, Edges>;
    const Edges with_edges(a.sites, place);
    const Access access{a, with_edges, neighbours};
    ColorVector<Arithmetic<Stored>> acc[n];
    hop_site<n>(typename Many::template Links<Access>(access, shared), acc);
    if (site_number<Many::sites, Ghosts>(range.chunks, k, thread_here() % Many::sites) > last)
      return;  // it only came along
    finish_site<Stored, Form::stencil, Use, Ghosts>(a, place, rhs, acc, sums, ScalarsOfCall<Stored, true>{a, rhs});
  };
  for (Walk<many_threads, 1, Finish::takes_chunks, ThreadSum::max_contributions> at(range, first_chunk, a.taken + tile);
       at.more(); at.advance()) {
    if (Cut && range.chunks.lists(at.chunk()))
      compute(at.chunk(), std::true_type());
    else
      compute(at.chunk(), std::false_type());
  }
  if (!a.bound) return;
  for (int r = 0; r < n; ++r) flush_lanes<Many::sites>(sums[r], a.bound[rhs + r], a.cells + (rhs + r) * cells_per_sum);
  __threadfence();
  __syncthreads();
  finish();
}

}  // namespace staghorn::cuda
