// The iterations of cuda_conjugate_gradient.cu as one kernel. All blocks of all ranks meet after each phase
// (cuda_rendezvous.cuh), and all of them compute the scalars. The same numbers in the same formulas, hence the same
// bits.
//
// Across ranks, faces of tmp and r, and of p where it is given, are stored straight into the ghosts of their readers
// before a meeting, and read after it.
#include <algorithm>

#include "dirac/cuda_hop.cuh"
#include "halo/cuda_device.hpp"
#include "halo/transport_p2p.hpp"
#include "solver/cuda_one_kernel.hpp"
#include "solver/cuda_rendezvous.cuh"

namespace staghorn {

namespace cuda {

namespace {

// One block a multiprocessor, of teams that each take a chunk of sites at a time.
constexpr int team_threads = 128;

// The more threads, the more loads are in flight, and the fewer registers each of them has. Measured on one H200 and on
// two, 512, 640 and 768 of them (docs/experiments.md).
template <class Stored, int Reals, bool Cut>
constexpr int one_kernel_threads() {
  if (sizeof(Stored) == 8) return 512;
  if (Reals == 12) return Cut ? (is_fixed_point<Stored> ? 640 : 512) : is_fixed_point<Stored> ? 768 : 640;
  if (is_fixed_point<Stored>) return 768;
  return Reals == 8 ? 640 : 512;
}

struct OneKernelArguments {
  HopArguments hop, residual;  // hop.in is r
  SharedRange hop_range, residual_range, direction_range;
  Meetings* meetings[max_peers];  // of every rank
  Scalars* scalars;
  int iterations;
};

// The scalars of an iteration for a block's right-hand side (ScalarsOfCall).
template <class Stored>
struct ScalarsOfBlock {
  using Real = Arithmetic<Stored>;
  const Scalars& s;
  int rhs;
  double bound_of_sum;
  bool given;  // p is the direction already

  __device__ __forceinline__ bool recurs() const { return !given; }
  __device__ __forceinline__ bool grows() const { return true; }
  __device__ __forceinline__ bool sums() const { return true; }
  __device__ __forceinline__ Real alpha(int) const { return Real(s.alpha[rhs]); }
  __device__ __forceinline__ Real beta(int) const { return Real(s.beta[rhs]); }
  __device__ __forceinline__ Real of_new(int) const { return Real(s.pending.of_new[rhs]); }
  __device__ __forceinline__ Real of_old(int) const { return Real(s.pending.of_old[rhs]); }
  __device__ __forceinline__ double bound(int) const { return bound_of_sum; }
};

// Calls work(place, ghosts) for this thread's sites: those that may need ghosts first. `chunk`: the team's first;
// `taken`: chunks (Walk).
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

// Whether its last chunks are taken (Walk). Not where that was not measured to gain and costs registers.
template <class Stored, int Reals, bool Cut>
constexpr bool takes_chunks = Cut ? Reals == 12 : sizeof(Stored) == 8 || Reals == 18;

template <class Stored, int Reals, bool Cut>
__global__ void __launch_bounds__(one_kernel_threads<Stored, Reals, Cut>()) one_kernel(const OneKernelArguments a) {
  STAGHORN_SPILL_TO_SHARED_MEMORY;
  constexpr int threads = one_kernel_threads<Stored, Reals, Cut>();
  constexpr bool takes = takes_chunks<Stored, Reals, Cut>;
  __shared__ alignas(16) char book[offsetof(Scalars, cells)];  // every block keeps its own
  __shared__ double sums[max_rhs];
  Scalars& s = *reinterpret_cast<Scalars*>(book);
  for (unsigned k = threadIdx.x; k < sizeof book / 4; k += threads)
    reinterpret_cast<int*>(book)[k] = __ldcg(reinterpret_cast<const int*>(a.scalars) + k);
  Walk<team_threads, threads / team_threads, takes>::prepare();
  __syncthreads();

  const int n = s.n_rhs, rhs = int(blockIdx.x) % n, number = int(blockIdx.x) / n, blocks = int(gridDim.x) / n;
  const int warp = int(threadIdx.x) / 32;
  const int chunk = number + blocks * (int(threadIdx.x) / team_threads);
  // Other GPUs read what these blocks store, and add to cells that block 0 has cleared: it is one of them if there are
  // any.
  const bool pushes = Cut && number < a.hop_range.chunks.listed;
  Meetings& meetings = *a.meetings[s.rank];

  // One phase: work(place, ghosts, sum, bound) at all sites, then all blocks add their shares to the sums of this
  // meeting and wait for those of all others.
  const auto pass = [&](std::uint64_t turn, Phase phase, const LocalSites& sites, const SharedRange& range,
                        const auto& work) {
    const double bound = s.bound[phase][rhs];
    ThreadSum sum[1];
    for_sites<threads / team_threads, Cut, takes>(
        sites, range, chunk, meetings.at(turn).taken + rhs,
        [&](const Place& place, auto ghosts) { work(place, ghosts, sum, bound); });
    const BlockShare share = block_share<threads>(sum[0], bound);
    if (blockIdx.x == 0) clear_meeting(meetings.at(turn + 2), n);
    if (warp == 0) arrive(s, a.meetings, turn, rhs, number, share, pushes);
    for (int of = warp; of < n; of += threads / 32) take_sum(s, meetings, turn, of, blocks, phase, sums);
    __syncthreads();
  };
  // The same with a hop.
  const auto pass_hop = [&]<HopUse Use>(std::uint64_t turn, Phase phase, const HopArguments& hop, const void* in,
                                        const SharedRange& range, bool given) {
    const StoredVectors<Stored, Caching::plain> neighbours{in, hop.ghosts, rhs};
    pass(turn, phase, hop.sites, range, [&](const Place& place, auto ghosts, ThreadSum(&sum)[1], double bound) {
      constexpr bool Ghosts = decltype(ghosts)::value;
      ColorVector<Arithmetic<Stored>> acc[1];
      hop_site<1>(CudaAccess<Stored, Reals, Ghosts, true, Caching::plain>{hop, place, neighbours}, acc);
      finish_site<Stored, Use, Ghosts, Caching::plain>(hop, place, rhs, acc, sum,
                                                       ScalarsOfBlock<Stored>{s, rhs, bound, given});
    });
  };

  for (int k = 0; k < a.iterations && !s.done; ++k) {
    const long long iteration = s.iteration;  // the one that comes is this plus one
    const bool given = cg_direction_is_given(iteration + 1);
    const std::uint64_t turn = 2 * std::uint64_t(iteration) + std::uint64_t(iteration) / cg_refresh_interval;
    if (given && iteration > 0) {
      const HopArguments& at = a.residual;
      const std::size_t offset = vector_offset<Stored>(rhs, at.sites.V);
      pass(turn, direction_phase, at.sites, a.direction_range,
           [&](const Place& place, auto ghosts, ThreadSum(&sum)[1], double bound) {
             using Real = Arithmetic<Stored>;
             update_direction_site(at.sites, place, rhs, static_cast<Real*>(nullptr), Real(0),
                                   static_cast<Stored*>(at.p) + offset, Real(s.beta[rhs]),
                                   static_cast<const Stored*>(at.out) + offset, at.push, decltype(ghosts)::value,
                                   sum[0], bound);
           });
      if (int(threadIdx.x) < n) s.p2[threadIdx.x] = sums[threadIdx.x];
      __syncthreads();
    }
    pass_hop.template operator()<HopUse::store_norm>(turn + 1, hop_phase, a.hop, given ? a.hop.p : a.hop.in,
                                                     a.hop_range, given);
    if (int(threadIdx.x) < n) finish_hop(s, int(threadIdx.x), sums[threadIdx.x]);
    __syncthreads();
    pass_hop.template operator()<HopUse::update_residual>(turn + 2, residual_phase, a.residual, a.residual.in,
                                                          a.residual_range, given);
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

template <class Stored, bool Cut>
OneKernel one_kernel_for(Reconstruct reconstruct) {
  const auto of = [](auto reals) {
    constexpr int Reals = decltype(reals)::value;
    return OneKernel{one_kernel<Stored, Reals, Cut>, one_kernel_threads<Stored, Reals, Cut>()};
  };
  switch (reconstruct) {
    case Reconstruct::none18:
      return of(std::integral_constant<int, 18>());
    case Reconstruct::row12:
      return of(std::integral_constant<int, 12>());
    case Reconstruct::su3_8:
      return of(std::integral_constant<int, 8>());
  }
  return {};
}

OneKernel one_kernel_for(const HopView& view) {
  OneKernel kernel = {};
  with_stored(view.precision, view.links_here, [&]<class Stored>(const Stored*) {
    kernel = view.boundary_sites > 0 ? one_kernel_for<Stored, true>(view.reconstruct)
                                     : one_kernel_for<Stored, false>(view.reconstruct);
  });
  return kernel;
}

// Blocks for each right-hand side: no more than the GPU of any rank holds at once, since they wait for each other. 0
// where a GPU launches none such. Collective.
int most_blocks(StaggeredOperator& d) {
  const HopView& view = d.view(Parity::even);
  const int ranks = d.communicator().size();
  int device = 0, cooperative = 0;
  STAGHORN_CUDA_CHECK(cudaGetDevice(&device));
  STAGHORN_CUDA_CHECK(cudaDeviceGetAttribute(&cooperative, cudaDevAttrCooperativeLaunch, device));
  const OneKernel kernel = one_kernel_for(view);
  const int resident = resident_blocks(reinterpret_cast<const void*>(kernel.function), kernel.threads);
  const int here = cooperative ? std::min(resident, 32 * (max_blocks_of_cell / ranks)) / view.n_rhs : 0;
  return ranks == 1 ? here : -int(d.communicator().max(-double(here)));
}

}  // namespace

}  // namespace cuda

static_assert(cuda::mail_bytes + sizeof(cuda::Meetings) <= PeerTransport::mailbox_bytes);

struct OneKernelLoop::State {
  StaggeredOperator& d;
  cuda::OneKernel kernel;
  cuda::OneKernelArguments arguments = {};
  int blocks = 0;
  Buffer meetings;  // of one rank; of several in their mailboxes
};

bool OneKernelLoop::can_run(StaggeredOperator& d) {
  const HopView& view = d.view(Parity::even);
  if (!d.host_free()) return false;
  if (d.communicator().size() > 1 && (!d.peers() || !d.peers()->adds_for_all())) return false;
  const int blocks = cuda::most_blocks(d);
  const int chunks = cuda::chunk_range(cuda::hop_arguments(view).sites, cuda::team_threads, HopPart::all, false).count;
  return blocks > 0 && chunks <= blocks * cuda::one_kernel_for(view).teams() * cuda::ThreadSum::max_in_block_share;
}

OneKernelLoop::OneKernelLoop(StaggeredOperator& d, Parity parity)
    : state_(std::make_unique<State>(State{d, cuda::one_kernel_for(d.view(parity))})) {
  State& s = *state_;
  const HopView &to_other = d.view(opposite(parity)), &to_parity = d.view(parity);
  s.arguments.hop = cuda::hop_arguments(to_other);
  s.arguments.residual = cuda::hop_arguments(to_parity);
  const cuda::ChunkRange forth = cuda::chunk_range(s.arguments.hop.sites, cuda::team_threads, HopPart::all, false);
  const cuda::ChunkRange back = cuda::chunk_range(s.arguments.residual.sites, cuda::team_threads, HopPart::all, true);
  const int n = to_parity.n_rhs, ranks = d.communicator().size();
  if (ranks == 1) s.meetings = Buffer(sizeof(cuda::Meetings), MemorySpace::cuda);
  for (int rank = 0; rank < ranks; ++rank)
    s.arguments.meetings[rank] =
        reinterpret_cast<cuda::Meetings*>(ranks == 1 ? s.meetings.data() : d.peers()->mailbox(rank) + cuda::mail_bytes);
  s.blocks = std::min(cuda::most_blocks(d), forth.count) * n;
  const int teams = s.blocks / n * s.kernel.teams();
  s.arguments.hop_range = cuda::share_range(forth, teams);
  s.arguments.residual_range = cuda::share_range(back, teams);
  s.arguments.direction_range =
      cuda::share_range(cuda::chunk_range(s.arguments.residual.sites, cuda::team_threads, HopPart::all, false), teams);
}

OneKernelLoop::~OneKernelLoop() = default;

void OneKernelLoop::prepare(const OneKernelVectors& v, double four_m2) {
  State& s = *state_;
  cuda::HopArguments &hop = s.arguments.hop, &residual = s.arguments.residual;
  hop.in = v.r;
  hop.p = residual.p = v.p;
  residual.four_m2 = four_m2;
  hop.out = v.tmp;
  residual.in = v.tmp;
  residual.out = v.r;
  residual.x = v.x;
  STAGHORN_CUDA_CHECK(cudaMemset(s.arguments.meetings[s.d.communicator().rank()], 0, sizeof(cuda::Meetings)));
  if (PeerTransport* peers = s.d.peers()) {
    constexpr int set_of_r = 0, set_of_tmp = 1;
    hop.ghosts = cuda::faces(peers->incoming(set_of_r));
    hop.push = cuda::faces(peers->outgoing(set_of_tmp));
    residual.ghosts = cuda::faces(peers->incoming(set_of_tmp));
    residual.push = cuda::faces(peers->outgoing(set_of_r));
    // Those of p, where it is given, are with r.
    cuda_kernels().pack_faces(s.d.view(Parity(1 - residual.sites.parity)), v.p, peers->outgoing(set_of_r));
    cuda::synchronize();
    s.d.communicator().barrier();
  }
  cuda::synchronize();
}

void OneKernelLoop::launch(void* scalars, int iterations, void* stream) {
  State& s = *state_;
  s.arguments.scalars = static_cast<cuda::Scalars*>(scalars);
  s.arguments.iterations = iterations;
  void* arguments[] = {&s.arguments};
  STAGHORN_CUDA_CHECK(cudaLaunchCooperativeKernel(reinterpret_cast<const void*>(s.kernel.function),
                                                  dim3(unsigned(s.blocks)), dim3(unsigned(s.kernel.threads)), arguments,
                                                  0, static_cast<cudaStream_t>(stream)));
}

}  // namespace staghorn
