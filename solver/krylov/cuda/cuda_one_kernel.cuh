// The kernel of the loop as one cooperative kernel for many iterations: nothing is launched between its steps. All
// blocks of all ranks meet after each step (cuda_rendezvous.cuh), and every block computes the scalars from the sums
// that it finds there. The numbers and formulas are those of two kernels, hence the same bits.
//
// Across ranks, the faces of tmp and r, and of p where it is given, are stored straight into the ghosts of their
// readers before a rendezvous, and read after it. The loop around the kernel: cuda_one_kernel.cu.
#pragma once

#include "dirac/algebra/dispatch.hpp"
#include "dirac/kernels/cuda/cuda_hop.cuh"
#include "solver/krylov/cuda/cuda_rendezvous.cuh"

namespace staghorn::cuda {

// A multiprocessor holds one block. Its threads form teams, and a team works on one chunk of sites at a time.
constexpr int team_threads = 128;

// Threads of a block, and whether blocks take the last chunks of sites instead of being dealt them (Walk).
struct Form {
  int threads;
  bool takes;
};

// Chosen by measurement (decision 006). More threads have more loads in flight, and fewer registers each. Wide: for
// many sites, where each thread has several.
template <class Stored, class Links, bool Cut, bool Wide>
constexpr Form form_for() {
  constexpr bool fixed = is_fixed_point<Stored>;
  constexpr int Reals = Links::near;
  if (Links::stencil == Stencil::improved) {
    if (sizeof(Stored) == 8) return {Cut ? 384 : 512, true};
    if (Cut) return {fixed ? 512 : 640, true};
    return {Wide && !fixed ? 768 : 640, true};
  }
  if (sizeof(Stored) == 8) return Reals == 8 ? Form{Cut ? 512 : 640, Cut} : Form{512, !Cut || Reals == 12};
  if (Cut) return fixed || Reals == 8 ? Form{Wide ? 896 : 768, true} : Form{512, Reals == 12};
  if (Reals == 18 && !fixed) return {512, true};
  if (Reals == 12 && !fixed) return Wide ? Form{896, true} : Form{640, false};
  return Wide && (Reals == 18 || !fixed) ? Form{1024, true} : Form{896, false};
}

// at_use: a value in shared memory is loaded where it is used. In a register it would last through all sites; with many
// threads it would be spilled, or take the register of a load in flight.
template <bool at_use, class T>
__device__ __forceinline__ T load(const T& value) {
  if constexpr (at_use) return *static_cast<const volatile T*>(&value);
  return value;
}

// What a block works on: it is block `number` of the `blocks` of its right-hand side. turn: which rendezvous comes
// next, counted since the loop began.
struct Task {
  int n_rhs, rhs, number, blocks;
  std::uint64_t turn;
};

struct OneKernelPlan {
  SharedRange hop_range, residual_range, direction_range;
  RendezvousRing* rings[max_peers];  // one for each rank
  Scalars* scalars;
  int iterations;
};

template <Stencil stencil>
struct OneKernelArguments : OneKernelPlan {
  ArgumentsOf<stencil> hop, residual;  // as for iterations whose p is not given
};

template <bool at_use>
__device__ __forceinline__ Task load_task(const Task& task) {
  return {load<at_use>(task.n_rhs), load<at_use>(task.rhs), load<at_use>(task.number), load<at_use>(task.blocks),
          load<at_use>(task.turn)};
}

// The scalars of a step for the right-hand side of a block; the counterpart of ScalarsOfCall.
template <class Stored, bool at_use>
struct ScalarsOfBlock {
  using Real = Arithmetic<Stored>;
  const Scalars& s;
  const Task& task;
  CgStep step;
  bool given;  // p is the direction already

  __device__ __forceinline__ bool recurs() const { return !given; }
  __device__ __forceinline__ bool grows() const { return true; }
  __device__ __forceinline__ bool sums() const { return true; }
  __device__ __forceinline__ Real alpha(int) const { return Real(of_rhs(s.alpha)); }
  __device__ __forceinline__ Real beta(int) const { return Real(of_rhs(s.beta)); }
  __device__ __forceinline__ Real new_weight(int) const { return Real(of_rhs(s.pending.new_weight)); }
  __device__ __forceinline__ Real old_weight(int) const { return Real(of_rhs(s.pending.old_weight)); }
  __device__ __forceinline__ double bound(int) const { return of_rhs(s.bound[step]); }

 private:
  __device__ __forceinline__ double of_rhs(const double (&all)[max_rhs]) const {
    return load<at_use>(all[load<at_use>(task.rhs)]);
  }
};

// Calls work(place, ghosts) for the sites of this thread. Sites that may need ghosts come first. `chunk` is the first
// chunk of the team, `taken` counts the chunks that were taken (Walk).
template <int teams, bool Cut, bool takes, class Work>
__device__ __forceinline__ void for_sites(const LocalSites& sites, const SharedRange& range, int chunk, unsigned* taken,
                                          const Work& work) {
  const int thread = int(threadIdx.x) % team_threads;
  for (Walk<team_threads, teams, takes> at(range, chunk, taken); at.more(); at.advance()) {
    const int k = at.chunk();
    Place place;
    if (Cut && range.chunks.lists(k)) {
      if (find_place<team_threads, true>(sites, range.chunks, k, thread, place)) work(place, std::true_type());
    } else if (find_place<team_threads, false>(sites, range.chunks, k, thread, place)) {
      work(place, std::false_type());
    }
  }
}

template <class Stored, class Links, bool Cut, int threads, bool takes>
__global__ void __launch_bounds__(threads) one_kernel(const OneKernelArguments<Links::stencil> a) {
  STAGHORN_SPILL_TO_SHARED_MEMORY;
  constexpr bool at_use =
      threads > (sizeof(Stored) == 8 ? 512 : 640);  // with fewer threads there are registers for all
  constexpr int teams = threads / team_threads;
  __shared__ alignas(16) char book[offsetof(Scalars, cells)];  // every block keeps its own copy of the scalars
  __shared__ double sums[max_rhs];
  Scalars& s = *reinterpret_cast<Scalars*>(book);
  for (unsigned k = threadIdx.x; k < sizeof book / 4; k += threads)
    reinterpret_cast<int*>(book)[k] = __ldcg(reinterpret_cast<const int*>(a.scalars) + k);
  Walk<team_threads, teams, takes>::prepare();
  __syncthreads();

  // With at_use there is one task for the block, which its first thread keeps.
  __shared__ Task shared_task;
  Task own_task;
  Task& task = at_use ? shared_task : own_task;
  const bool keeps_task = !at_use || threadIdx.x == 0;
  if (keeps_task) {
    const int n = s.n_rhs, block = int(blockIdx.x);
    const long long rendezvous_before = 2 * s.iteration + (s.iteration - 1) / cg_refresh_interval;
    task = {n, block % n, block / n, int(gridDim.x) / n, std::uint64_t(rendezvous_before) + 1};
  }
  __syncthreads();

  // One step: work(place, ghosts, sum, scalars) at all sites. Then all blocks add their shares to the sums of this
  // rendezvous and wait for the shares of all others.
  const auto pass = [&](CgStep step, bool given, const LocalSites& sites, const SharedRange& range, const auto& work) {
    ThreadSum sum[1];
    const ScalarsOfBlock<Stored, at_use> scalars{s, task, step, given};
    const int chunk = load<at_use>(task.number) + load<at_use>(task.blocks) * (int(threadIdx.x) / team_threads);
    unsigned* const taken = a.rings[s.rank]->at(load<at_use>(task.turn)).taken + load<at_use>(task.rhs);
    for_sites<teams, Cut, takes>(sites, range, chunk, taken,
                                 [&](const Place& place, auto ghosts) { work(place, ghosts, sum, scalars); });

    const Task at = load_task<at_use>(task);  // all threads load it before the barriers of block_share
    const int warp = thread_here() / 32;
    // Blocks that push store what other GPUs read. Other GPUs also add to cells that block 0 has cleared; block 0
    // pushes if any block does.
    const bool pushes = Cut && at.number < a.hop_range.chunks.listed;
    const BlockShare share = block_share<threads, true>(sum[0], s.bound[step][at.rhs]);
    RendezvousRing& ring = *a.rings[s.rank];
    if (blockIdx.x == 0) clear_rendezvous(ring.at(at.turn + 2), at.n_rhs);
    if (warp == 0) arrive(s, a.rings, at.turn, at.rhs, at.number, share, pushes);
    for (int of = warp; of < at.n_rhs; of += threads / 32) take_sum(s, ring, at.turn, of, at.blocks, step, sums);
    if (keeps_task) task.turn = at.turn + 1;
    __syncthreads();
  };
  // The same, where the work at a site is a hop and what follows from it.
  const auto pass_hop = [&]<HopUse Use>(CgStep step, bool given, const auto& hop, const void* in,
                                        const SharedRange& range) {
    pass(step, given, hop.sites, range,
         [&](const Place& place, auto ghosts, ThreadSum(&sum)[1], const ScalarsOfBlock<Stored, at_use>& scalars) {
           constexpr bool Ghosts = decltype(ghosts)::value;
           const StoredVectors<Stored, Caching::plain> neighbours{in, hop.ghosts, load<at_use>(task.rhs)};
           ColorVector<Arithmetic<Stored>> acc[1];
           hop_site<1>(CudaAccess<Stored, Links, Ghosts, true, Caching::plain>{hop, place, neighbours}, acc);
           finish_site<Stored, Links::stencil, Use, Ghosts, Caching::plain>(hop, place, load<at_use>(task.rhs), acc,
                                                                            sum, scalars);
         });
  };

  for (int k = 0; k < a.iterations && !s.done; ++k) {
    const bool given = cg_direction_is_given(s.iteration + 1);  // of the iteration that comes
    if (given && s.iteration > 0) {
      const HopArguments& at = a.residual;
      pass(direction_step, given, at.sites, a.direction_range,
           [&](const Place& place, auto ghosts, ThreadSum(&sum)[1], const ScalarsOfBlock<Stored, at_use>& scalars) {
             using Real = Arithmetic<Stored>;
             const int rhs = load<at_use>(task.rhs);
             const std::size_t offset = vector_offset<Stored>(rhs, at.sites.V);
             update_direction_site<Stored, depth_of(Links::stencil)>(
                 at.sites, place, rhs, static_cast<Real*>(nullptr), Real(0), static_cast<Stored*>(at.p) + offset,
                 scalars.beta(0), static_cast<const Stored*>(at.out) + offset, at.push, decltype(ghosts)::value, sum[0],
                 scalars.bound(0));
           });
      if (int(threadIdx.x) < s.n_rhs) s.p2[threadIdx.x] = sums[threadIdx.x];
      __syncthreads();
    }
    pass_hop.template operator()<HopUse::store_norm>(hop_step, given, a.hop, given ? a.residual.p : a.hop.in,
                                                     a.hop_range);
    if (int(threadIdx.x) < s.n_rhs) finish_hop(s, int(threadIdx.x), sums[threadIdx.x]);
    __syncthreads();
    pass_hop.template operator()<HopUse::update_residual>(residual_step, given, a.residual, a.residual.in,
                                                          a.residual_range);
    finish_residual(s, sums, blockIdx.x == 0);
    if (threadIdx.x == 0 && s.silent_rank >= 0) s.done = 1;
    __syncthreads();
  }
  if (blockIdx.x != 0) return;
  for (unsigned k = threadIdx.x; k < sizeof book / 4; k += threads)
    reinterpret_cast<int*>(a.scalars)[k] = reinterpret_cast<const int*>(book)[k];
}

struct OneKernel {
  const void* function;  // of OneKernelArguments of the stencil
  int threads;
  int teams() const { return threads / team_threads; }
};

template <class Stored, class Links, bool Cut>
OneKernel one_kernel_for(bool wide) {
  constexpr Form narrow_form = form_for<Stored, Links, Cut, false>(), wide_form = form_for<Stored, Links, Cut, true>();
  const auto of = [](auto* kernel, int threads) { return OneKernel{reinterpret_cast<const void*>(kernel), threads}; };
  if (wide) return of(one_kernel<Stored, Links, Cut, wide_form.threads, wide_form.takes>, wide_form.threads);
  return of(one_kernel<Stored, Links, Cut, narrow_form.threads, narrow_form.takes>, narrow_form.threads);
}

// The kernel for links in forms known when this is compiled.
template <class Stored, class Links>
OneKernel one_kernel_of(const HopView& view, bool wide) {
  return view.geometry.boundary_sites > 0 ? one_kernel_for<Stored, Links, true>(wide)
                                          : one_kernel_for<Stored, Links, false>(wide);
}
// The kernel for improved quarks, compiled in a file of its own (cuda_improved_one_kernel.cu).
OneKernel improved_one_kernel(const HopView& view, bool wide);

}  // namespace staghorn::cuda
