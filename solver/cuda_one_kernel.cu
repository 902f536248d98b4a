// An iteration is two phases, with all blocks of all ranks meeting after each (cuda_rendezvous.cuh):
//
//   hop               p' = r + beta p, formed where neighbours are read;  tmp = D p';  |tmp|^2, |p'|^2;  alpha
//   residual update   p = p';  r -= alpha (4m^2 p - D tmp);  |r|^2;  beta, and whether we are done
//
// x grows in every second residual update, by two directions (pending_solution.hpp), and where the direction of the
// iteration before could not wait for that, by it before it is replaced. The last one is left to the host.
//
// The same numbers in the same formulas as the three kernels of cuda_conjugate_gradient.cu, hence the same bits, with
// one meeting less. Memory moved per iteration and site: two passes over the links and 54 reals of vectors; but the hop
// gathers two vectors, so where bytes decide three kernels are faster. Every site of the parity is the neighbour at +x
// of one site of the other: that one adds its |p'|^2.
//
// Across ranks, faces of tmp and r are stored straight into the ghosts of their readers before a meeting, and read
// after it. Ghosts of p' are not sent: each is read by one site, which forms it from ghosts of r and p and keeps it.
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
constexpr int one_kernel_threads = 512, team_threads = 128, teams = one_kernel_threads / team_threads;

struct OneKernelArguments {
  HopArguments hop, residual;  // hop.in is r
  SharedRange hop_range, residual_range;
  void* x;
  Faces ghosts_of_p;
  Meetings* meetings[max_peers];  // of every rank
  Scalars* scalars;
  int iterations;
};

// The direction of this iteration, out of the last one and the residual.
template <class Stored>
struct NextDirection {
  using Real = Arithmetic<Stored>;
  const void *r, *p;
  const Faces &ghosts_of_r, &ghosts_of_p;
  int rhs;
  bool given;  // p is the direction already
  Real beta;
  double bound;
  ThreadSum& norm2;

  __device__ __forceinline__ Real operator()(Real r_k, Real p_k) const {
    return given ? p_k : multiply_add(beta, p_k, r_k);
  }

  __device__ __forceinline__ void load(const Neighbour& at, int, Real factor, Real (&v)[6]) const {
    const long long offset = vector_offset<Stored>(rhs, at.V);
    Stored* const all_p = static_cast<Stored*>(at.ghost ? ghosts_of_p.face[at.hop] : const_cast<void*>(p)) + offset;
    const Stored* const all_r = static_cast<const Stored*>(at.ghost ? ghosts_of_r.face[at.hop] : r) + offset;
    Real r_there[6];
    load_vector<Caching::plain>(all_p, at.V, at.lane, v);
    load_vector<Caching::plain>(all_r, at.V, at.lane, r_there);
#pragma unroll
    for (int k = 0; k < 6; ++k) v[k] = (*this)(r_there[k], v[k]);
    if (at.ghost) store_vector(all_p, at.V, at.lane, v);
    if (at.hop == 0) norm2.add(site_norm2(v), bound);
#pragma unroll
    for (int k = 0; k < 6; ++k) v[k] *= factor;
  }
};

// Calls work(place, ghosts) for this thread's sites: those that may need ghosts first. `chunk`: the team's first;
// `taken`: chunks (Walk).
template <bool Cut, bool takes, class Work>
__device__ __forceinline__ void for_sites(const LocalSites& sites, const SharedRange& range, int chunk, unsigned* taken,
                                          const Work& work) {
  const int thread = int(threadIdx.x) % team_threads;
  for (Walk<team_threads, teams, takes> at(range, chunk, taken); at.more(); at.advance()) {
    const int k = at.chunk();
    Place place;
    if (Cut && is_listed<team_threads>(sites, range.chunks, k)) {
      if (find_place<team_threads, true>(sites, range.chunks, k, thread, place)) work(place, std::true_type());
    } else if (find_place<team_threads, false>(sites, range.chunks, k, thread, place)) {
      work(place, std::false_type());
    }
  }
}

template <class Real>
__device__ __forceinline__ void as_reals(const ColorVector<Real>& v, Real (&reals)[6]) {
#pragma unroll
  for (int c = 0; c < 3; ++c) {
    reals[2 * c] = v.c[c].re;
    reals[2 * c + 1] = v.c[c].im;
  }
}

// Whether its last chunks are taken (Walk). Not where that was not measured to gain and costs registers.
template <class Stored, int Reals, bool Cut>
constexpr bool takes_chunks = Cut ? Reals == 12 : sizeof(Stored) == 8 || Reals == 18;

template <class Stored, int Reals, bool Cut>
__global__ void __launch_bounds__(one_kernel_threads) one_kernel(const OneKernelArguments a) {
  STAGHORN_SPILL_TO_SHARED_MEMORY;
  using Real = Arithmetic<Stored>;
  constexpr bool takes = takes_chunks<Stored, Reals, Cut>;
  __shared__ alignas(16) char book[offsetof(Scalars, cells)];  // every block keeps its own
  __shared__ double sums[2][max_rhs];
  Scalars& s = *reinterpret_cast<Scalars*>(book);
  for (unsigned k = threadIdx.x; k < sizeof book / 4; k += one_kernel_threads)
    reinterpret_cast<int*>(book)[k] = __ldcg(reinterpret_cast<const int*>(a.scalars) + k);
  __syncthreads();

  const int n = s.n_rhs, rhs = int(blockIdx.x) % n, number = int(blockIdx.x) / n, blocks = int(gridDim.x) / n;
  const long long here = vector_offset<Stored>(rhs, a.residual.sites.sites),
                  there = vector_offset<Stored>(rhs, a.hop.sites.sites);
  const int warp = int(threadIdx.x) / 32, i = int(threadIdx.x);
  const int chunk = number + blocks * (int(threadIdx.x) / team_threads);
  // Other GPUs read what these blocks store, and add to cells that block 0 has cleared: it is one of them if there are
  // any.
  const bool pushes = Cut && number < (a.hop.sites.boundary_sites + team_threads - 1) / team_threads;

  // All blocks add their shares to the sums of this meeting, that of phases[k] in lane 0 of warp k, and wait for those
  // of all others.
  Meetings& meetings = *a.meetings[s.rank];
  const auto meet = [&](std::uint64_t turn, const BlockShare& share, const Phase(&phases)[2], int n_phases) {
    if (blockIdx.x == 0) clear_meeting(meetings.at(turn + 2), 2 * n);
    if (warp < n_phases) arrive(s, a.meetings, turn, warp * n + rhs, number, share, pushes);
    for (int index = warp; index < n_phases * n; index += one_kernel_threads / 32)
      take_sum(s, meetings, turn, index, blocks, phases[index / n], index % n, sums[index / n]);
    __syncthreads();
  };

  for (int iteration = 0; iteration < a.iterations && !s.done; ++iteration) {
    const bool given = s.iteration == 0;
    const Real beta = Real(s.beta[rhs]);
    const std::uint64_t turn = 2 * std::uint64_t(s.iteration);
    {
      const double bounds[2] = {s.bound[hop_phase][rhs], s.bound[direction_phase][rhs]};
      ThreadSum norms2[2];  // of tmp and p'
      const NextDirection<Stored> direction{a.hop.in, a.hop.p, a.hop.ghosts, a.ghosts_of_p, rhs,
                                            given,    beta,    bounds[1],    norms2[1]};
      unsigned* const taken = meetings.at(turn).taken + rhs;
      for_sites<Cut, takes>(a.hop.sites, a.hop_range, chunk, taken, [&](const Place& place, auto ghosts) {
        ColorVector<Real> acc[1];
        hop_site<1>(
            CudaAccess<Stored, Reals, decltype(ghosts)::value, true, NextDirection<Stored>>{a.hop, place, direction},
            acc);
        Real v[6];
        as_reals(acc[0], v);
        if constexpr (decltype(ghosts)::value) push_faces<Stored>(a.hop.sites, place, a.hop.push, rhs, v);
        store_vector(static_cast<Stored*>(a.hop.out) + there, a.hop.sites.sites, place.site, v);
        norms2[0].add(site_norm2(v), bounds[0]);
      });
      const BlockShare share = block_share<one_kernel_threads>(norms2, bounds);
      meet(turn, share, {hop_phase, direction_phase}, given ? 1 : 2);
      if (i < n) {
        if (!given) s.p2[i] = sums[1][i];
        finish_hop(s, i, sums[0][i]);
      }
      __syncthreads();
    }
    {
      const Real alpha = Real(s.alpha[rhs]), four_m2 = Real(s.four_m2);
      const double bounds[1] = {s.bound[residual_phase][rhs]};
      ThreadSum norm2[1];
      const StoredVectors<Stored, Caching::plain> neighbours{a.residual, rhs};
      const LocalSites& sites = a.residual.sites;
      Stored* const all_p = static_cast<Stored*>(const_cast<void*>(a.residual.p)) + here;
      Stored* const all_r = static_cast<Stored*>(a.residual.out) + here;
      Real* const all_x = static_cast<Real*>(a.x) + vector_offset<Real>(rhs, sites.sites);
      unsigned* const taken = meetings.at(turn + 1).taken + rhs;
      for_sites<Cut, takes>(sites, a.residual_range, chunk, taken, [&](const Place& place, auto ghosts) {
        if (const Real at_once = Real(s.pending.at_once[rhs]); at_once != 0) {  // rare
          Real p[6];
          load_vector<Caching::plain>(all_p, sites.sites, place.site, p);
          add_to_solution<Caching::plain>(all_x, sites.sites, place.site, at_once, p);
        }
        ColorVector<Real> acc[1];
        using Vectors = StoredVectors<Stored, Caching::plain>;
        hop_site<1>(CudaAccess<Stored, Reals, decltype(ghosts)::value, true, Vectors>{a.residual, place, neighbours},
                    acc);
        Real v[6], p[6], r[6];  // v: D tmp, then the new r
        as_reals(acc[0], v);
        load_vector<Caching::plain>(all_p, sites.sites, place.site, p);
        load_vector<Caching::plain>(all_r, sites.sites, place.site, r);
#pragma unroll
        for (int k = 0; k < 6; ++k) {
          p[k] = given ? p[k] : multiply_add(beta, p[k], r[k]);
          v[k] = multiply_add(-alpha, multiply_add(four_m2, p[k], -v[k]), r[k]);
        }
        store_vector(all_p, sites.sites, place.site, p);
        if constexpr (decltype(ghosts)::value) push_faces<Stored>(sites, place, a.residual.push, rhs, v);
        store_vector(all_r, sites.sites, place.site, v);
        norm2[0].add(site_norm2(v), bounds[0]);
        add_to_solution<Caching::plain>(all_x, sites.sites, place.site, Real(s.pending.of_p[rhs]), p,
                                        Real(s.pending.of_r[rhs]), r);
      });
      const BlockShare share = block_share<one_kernel_threads>(norm2, bounds);
      meet(turn + 1, share, {residual_phase, residual_phase}, 1);
      finish_residual(s, sums[0], blockIdx.x == 0);
      if (i == 0) {
        end_iteration(s);
        if (s.silent_rank >= 0) s.done = 1;
      }
      __syncthreads();
    }
  }
  if (blockIdx.x != 0) return;
  for (unsigned k = threadIdx.x; k < sizeof book / 4; k += one_kernel_threads)
    reinterpret_cast<int*>(a.scalars)[k] = reinterpret_cast<const int*>(book)[k];
}

using OneKernel = void (*)(OneKernelArguments);

template <class Stored, bool Cut>
OneKernel one_kernel_for(Reconstruct reconstruct) {
  switch (reconstruct) {
    case Reconstruct::none18:
      return one_kernel<Stored, 18, Cut>;
    case Reconstruct::row12:
      return one_kernel<Stored, 12, Cut>;
    case Reconstruct::su3_8:
      return one_kernel<Stored, 8, Cut>;
  }
  return nullptr;
}

OneKernel one_kernel_for(const HopView& view) {
  const bool cut = view.boundary_sites > 0;
  if (view.precision == Precision::fp64)
    return cut ? one_kernel_for<double, true>(view.reconstruct) : one_kernel_for<double, false>(view.reconstruct);
  return cut ? one_kernel_for<float, true>(view.reconstruct) : one_kernel_for<float, false>(view.reconstruct);
}

// Blocks for each right-hand side: no more than the GPU of any rank holds at once, since they wait for each other. 0
// where a GPU launches none such. Collective.
int most_blocks(StaggeredOperator& d) {
  const HopView& view = d.view(Parity::even);
  const int ranks = d.communicator().size();
  int device = 0, cooperative = 0;
  STAGHORN_CUDA_CHECK(cudaGetDevice(&device));
  STAGHORN_CUDA_CHECK(cudaDeviceGetAttribute(&cooperative, cudaDevAttrCooperativeLaunch, device));
  const int resident = resident_blocks(reinterpret_cast<const void*>(one_kernel_for(view)), one_kernel_threads);
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
  Buffer ghosts_of_p;
  FacePointers ghost_places{};  // in ghosts_of_p
  std::array<std::size_t, 8> face_bytes{};
};

bool OneKernelLoop::can_run(StaggeredOperator& d) {
  const HopView& view = d.view(Parity::even);
  if (!d.host_free() || view.precision == Precision::fp16) return false;
  if (d.communicator().size() > 1 && (!d.peers() || !d.peers()->adds_for_all())) return false;
  const int blocks = cuda::most_blocks(d);
  const int chunks = cuda::chunk_range(cuda::hop_arguments(view).sites, cuda::team_threads, HopPart::all, false).count;
  return blocks > 0 && chunks <= blocks * cuda::teams * cuda::ThreadSum::max_in_block_share;
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
  s.arguments.hop_range = cuda::share_range(forth, s.blocks / n * cuda::teams);
  s.arguments.residual_range = cuda::share_range(back, s.blocks / n * cuda::teams);
  if (!d.peers()) return;
  std::size_t total = 0;
  const std::size_t site_bytes = std::size_t(6 * n * bytes_per_real(to_parity.precision));
  for (int face = 0; face < 8; ++face) {
    if (to_parity.cut[std::size_t(face / 2)])
      s.face_bytes[std::size_t(face)] = site_bytes * std::size_t(s.arguments.hop.sites.face_sites[face / 2]);
    total += (s.face_bytes[std::size_t(face)] + 255) / 256 * 256;
  }
  s.ghosts_of_p = Buffer(total, MemorySpace::cuda);
  std::size_t offset = 0;
  for (std::size_t face = 0; face < 8; ++face) {
    if (s.face_bytes[face] > 0) s.ghost_places[face] = s.ghosts_of_p.data() + offset;
    offset += (s.face_bytes[face] + 255) / 256 * 256;
  }
}

OneKernelLoop::~OneKernelLoop() = default;

void OneKernelLoop::prepare(const OneKernelVectors& v) {
  State& s = *state_;
  cuda::HopArguments &hop = s.arguments.hop, &residual = s.arguments.residual;
  hop.in = v.r;
  hop.p = residual.p = v.p;
  hop.out = v.tmp;
  residual.in = v.tmp;
  residual.out = v.r;
  s.arguments.x = v.x;
  STAGHORN_CUDA_CHECK(cudaMemset(s.arguments.meetings[s.d.communicator().rank()], 0, sizeof(cuda::Meetings)));
  if (PeerTransport* peers = s.d.peers()) {
    constexpr int set_of_r = 0, set_of_tmp = 1;
    hop.ghosts = cuda::faces(peers->incoming(set_of_r));
    hop.push = cuda::faces(peers->outgoing(set_of_tmp));
    residual.ghosts = cuda::faces(peers->incoming(set_of_tmp));
    residual.push = cuda::faces(peers->outgoing(set_of_r));
    s.arguments.ghosts_of_p = cuda::faces(s.ghost_places);
    const HopView& to_other = s.d.view(Parity(1 - residual.sites.parity));
    cuda_kernels().pack_faces(to_other, v.r, peers->outgoing(set_of_r));
    cuda_kernels().pack_faces(to_other, v.p, peers->outgoing(set_of_tmp));
    cuda::synchronize();
    s.d.communicator().barrier();
    for (std::size_t face = 0; face < 8; ++face)
      if (s.face_bytes[face] > 0)
        STAGHORN_CUDA_CHECK(cudaMemcpyAsync(s.ghost_places[face], peers->incoming(set_of_tmp)[face], s.face_bytes[face],
                                            cudaMemcpyDeviceToDevice));
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
  STAGHORN_CUDA_CHECK(cudaLaunchCooperativeKernel(reinterpret_cast<const void*>(s.kernel), dim3(unsigned(s.blocks)),
                                                  dim3(cuda::one_kernel_threads), arguments, 0,
                                                  static_cast<cudaStream_t>(stream)));
}

}  // namespace staghorn
