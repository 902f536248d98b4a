// The loop as one cooperative kernel for many iterations: nothing is launched between its steps. All blocks of all
// ranks meet after each step (cuda_rendezvous.cuh), and every block computes the scalars from the sums that it finds
// there. The numbers and formulas are those of two kernels, hence the same bits.
//
// Across ranks, the faces of tmp and r, and of p where it is given, are stored straight into the ghosts of their
// readers before a rendezvous, and read after it.
#include <algorithm>

#include "dirac/algebra/dispatch.hpp"
#include "dirac/kernels/cuda/cuda_hop.cuh"
#include "halo/cuda/cuda_device.hpp"
#include "halo/transport/transport_p2p.hpp"
#include "solver/krylov/cuda/cuda_binding.cuh"
#include "solver/krylov/cuda/cuda_rendezvous.cuh"

namespace staghorn {

namespace cuda {

namespace {

// A multiprocessor holds one block. Its threads form teams, and a team works on one chunk of sites at a time.
constexpr int team_threads = 128;

// Threads of a block, and whether blocks take the last chunks of sites instead of being dealt them (Walk).
struct Form {
  int threads;
  bool takes;
};

// Chosen by measurement (decision 006). More threads have more loads in flight, and fewer registers each. Wide: for
// many sites, where each thread has several.
template <class Stored, int Reals, bool Cut, bool Wide>
constexpr Form form_for() {
  constexpr bool fixed = is_fixed_point<Stored>;
  if (sizeof(Stored) == 8) return Reals == 8 ? Form{640, Cut} : Form{512, !Cut || Reals == 12};
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

struct OneKernelArguments {
  HopArguments hop, residual;  // as for iterations whose p is not given
  SharedRange hop_range, residual_range, direction_range;
  RendezvousRing* rings[max_peers];  // one for each rank
  Scalars* scalars;
  int iterations;
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

template <class Stored, int Reals, bool Cut, int threads, bool takes>
__global__ void __launch_bounds__(threads) one_kernel(const OneKernelArguments a) {
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
    const BlockShare share = block_share<threads>(sum[0], s.bound[step][at.rhs]);
    RendezvousRing& ring = *a.rings[s.rank];
    if (blockIdx.x == 0) clear_rendezvous(ring.at(at.turn + 2), at.n_rhs);
    if (warp == 0) arrive(s, a.rings, at.turn, at.rhs, at.number, share, pushes);
    for (int of = warp; of < at.n_rhs; of += threads / 32) take_sum(s, ring, at.turn, of, at.blocks, step, sums);
    if (keeps_task) task.turn = at.turn + 1;
    __syncthreads();
  };
  // The same, where the work at a site is a hop and what follows from it.
  const auto pass_hop = [&]<HopUse Use>(CgStep step, bool given, const HopArguments& hop, const void* in,
                                        const SharedRange& range) {
    pass(step, given, hop.sites, range,
         [&](const Place& place, auto ghosts, ThreadSum(&sum)[1], const ScalarsOfBlock<Stored, at_use>& scalars) {
           constexpr bool Ghosts = decltype(ghosts)::value;
           const StoredVectors<Stored, Caching::plain> neighbours{in, hop.ghosts, load<at_use>(task.rhs)};
           ColorVector<Arithmetic<Stored>> acc[1];
           hop_site<1>(CudaAccess<Stored, Reals, Ghosts, true, Caching::plain>{hop, place, neighbours}, acc);
           finish_site<Stored, Use, Ghosts, Caching::plain>(hop, place, load<at_use>(task.rhs), acc, sum, scalars);
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
             update_direction_site(at.sites, place, rhs, static_cast<Real*>(nullptr), Real(0),
                                   static_cast<Stored*>(at.p) + offset, scalars.beta(0),
                                   static_cast<const Stored*>(at.out) + offset, at.push, decltype(ghosts)::value,
                                   sum[0], scalars.bound(0));
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
  void (*function)(OneKernelArguments);
  int threads;
  int teams() const { return threads / team_threads; }
};

template <class Stored, int Reals, bool Cut>
OneKernel one_kernel_for(bool wide) {
  constexpr Form narrow_form = form_for<Stored, Reals, Cut, false>(), wide_form = form_for<Stored, Reals, Cut, true>();
  if (wide) return {one_kernel<Stored, Reals, Cut, wide_form.threads, wide_form.takes>, wide_form.threads};
  return {one_kernel<Stored, Reals, Cut, narrow_form.threads, narrow_form.takes>, narrow_form.threads};
}

OneKernel one_kernel_for(const HopView& view, bool wide) {
  OneKernel kernel = {};
  with_stored_links(view.vectors.precision, view.near.reconstruct, view.near.here,
                    [&]<class Stored, int Reals>(const Stored*, std::integral_constant<int, Reals>) {
                      kernel = view.geometry.boundary_sites > 0 ? one_kernel_for<Stored, Reals, true>(wide)
                                                                : one_kernel_for<Stored, Reals, false>(wide);
                    });
  return kernel;
}

// Blocks for each right-hand side. Blocks wait for each other, so there are no more than the GPU of any rank holds at
// once. Returns 0 if the GPU of a rank has no cooperative launches. Collective.
int most_blocks(StaggeredOperator& d, const OneKernel& kernel) {
  const HopView& view = d.view(Parity::even);
  const int ranks = d.communicator().size();
  int device = 0, cooperative = 0;
  STAGHORN_CUDA_CHECK(cudaGetDevice(&device));
  STAGHORN_CUDA_CHECK(cudaDeviceGetAttribute(&cooperative, cudaDevAttrCooperativeLaunch, device));
  const int resident = resident_blocks(reinterpret_cast<const void*>(kernel.function), kernel.threads);
  const int here = cooperative ? std::min(resident, 32 * (max_blocks_of_cell / ranks)) / view.vectors.n_rhs : 0;
  return ranks == 1 ? here : -int(d.communicator().max(-double(here)));
}

}  // namespace

}  // namespace cuda

static_assert(cuda::mail_bytes + sizeof(cuda::RendezvousRing) <= PeerTransport::mailbox_bytes);

namespace {

class OneKernelForm final : public CudaLoopForm {
 public:
  OneKernelForm(const LoopContext& context, bool wide)
      : CudaLoopForm(context), wide_(wide), kernel_(cuda::one_kernel_for(to_parity(), wide)) {
    StaggeredOperator& d = context.d;
    const int n = to_parity().vectors.n_rhs, ranks = d.communicator().size();
    if (ranks == 1) ring_ = Buffer(sizeof(cuda::RendezvousRing), MemorySpace::cuda);
    for (int rank = 0; rank < ranks; ++rank)
      arguments_.rings[rank] = reinterpret_cast<cuda::RendezvousRing*>(
          ranks == 1 ? ring_.data() : d.peers()->mailbox(rank) + cuda::mail_bytes);
    arguments_.scalars = context.scalars;
    arguments_.iterations = 128;  // of a batch: a launch takes time, but the kernel ends where the loop does
    const auto chunks = [](const HopView& view, bool reversed) {
      return cuda::chunk_range(cuda::hop_arguments(view).sites, cuda::team_threads, HopPart::all, reversed);
    };
    const cuda::ChunkRange forth = chunks(to_other(), false);
    blocks_ = std::min(cuda::most_blocks(d, kernel_), forth.count) * n;
    const int teams = blocks_ / n * kernel_.teams();
    arguments_.hop_range = cuda::share_range(forth, teams);
    arguments_.residual_range = cuda::share_range(chunks(to_parity(), true), teams);
    arguments_.direction_range = cuda::share_range(chunks(to_parity(), false), teams);
  }

  LoopForm form() const override { return wide_ ? LoopForm::wide_kernel : LoopForm::one_kernel; }

  // Also empties the sums.
  void begin(const LoopVectors& vectors, double shift) override {
    const CgBinding binding(vectors, shift, context_.scalars, peer_faces(context_.d));
    arguments_.hop = cuda::hop_arguments(to_other(), binding.hop(false));
    arguments_.residual = cuda::hop_arguments(to_parity(), binding.residual(false));
    const int rank = context_.d.communicator().rank();
    STAGHORN_CUDA_CHECK(cudaMemset(arguments_.rings[rank], 0, sizeof(cuda::RendezvousRing)));
    store_first_faces(vectors.p);
    cuda::synchronize();
  }

  void queue(long) override {
    void* arguments[] = {&arguments_};
    STAGHORN_CUDA_CHECK(cudaLaunchCooperativeKernel(reinterpret_cast<const void*>(kernel_.function),
                                                    dim3(unsigned(blocks_)), dim3(unsigned(kernel_.threads)), arguments,
                                                    0, context_.stream));
  }

 private:
  bool wide_;
  cuda::OneKernel kernel_;
  cuda::OneKernelArguments arguments_ = {};
  int blocks_ = 0;
  Buffer ring_;  // of a single rank; of several ranks the rings lie in their mailboxes
};

}  // namespace

bool can_be_one_kernel(StaggeredOperator& d, bool wide) {
  const HopView& view = d.view(Parity::even);
  if (!d.host_free()) return false;
  if (d.communicator().size() > 1 && (!d.peers() || !d.peers()->adds_for_all())) return false;
  const cuda::OneKernel kernel = cuda::one_kernel_for(view, wide);
  const int blocks = cuda::most_blocks(d, kernel);
  const int chunks = cuda::chunk_range(cuda::hop_arguments(view).sites, cuda::team_threads, HopPart::all, false).count;
  return blocks > 0 && chunks <= blocks * kernel.teams() * cuda::ThreadSum::max_in_block_share;
}

std::unique_ptr<CudaLoopForm> make_one_kernel(const LoopContext& context, bool wide) {
  return std::make_unique<OneKernelForm>(context, wide);
}

}  // namespace staghorn
