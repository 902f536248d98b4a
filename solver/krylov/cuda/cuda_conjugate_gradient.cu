// One iteration is two kernels, named after the lines of CG that they are (on small local lattices the loop is one
// kernel instead, cuda_one_kernel.cu; by NCCL other kernels compute the scalars, cuda_nccl_iteration.cu):
//
//   hop and norm        tmp = D r + beta tmp;  alpha = |r|^2 / (4m^2 |p|^2 + |tmp|^2)
//   residual update     p = r + beta p;  r -= alpha (4m^2 p - D tmp);  x;  beta = |r_new|^2 / |r|^2, and whether we are
//                       done
//
// One iteration of cg_refresh_interval has p given, and tmp = D p from it (cg_recurrences.hpp): before it, but for the
// first, a kernel makes p,
//
//   direction update    p = r + beta p;  |p|^2
//
// and one after the loop does. The scalars on the right are computed by the last block of each kernel (LastBlock), when
// all its sums are complete. Once every right-hand side is done, kernels return at once, so iterations launched ahead
// cost nothing and change nothing. Memory moved per iteration and site: two passes over the links and 54 reals of
// vectors.
#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <optional>

#include "halo/cuda/cuda_check.hpp"
#include "halo/cuda/cuda_device.hpp"
#include "halo/cuda/cuda_graph.hpp"
#include "halo/transport/transport_p2p.hpp"
#include "halo/watch/activity.hpp"
#include "halo/watch/adverse_timing.hpp"
#include "halo/watchdog.hpp"
#include "solver/krylov/cuda/cuda_nccl_iteration.cuh"
#include "solver/krylov/cuda/cuda_one_kernel.hpp"
#include "solver/krylov/cuda/cuda_scalars.cuh"
#include "solver/krylov/cuda_conjugate_gradient.hpp"

namespace staghorn {

namespace {

using cuda::direction_phase;
using cuda::hop_phase;
using cuda::LastBlock;
using cuda::residual_phase;
using cuda::Scalars;

// RAII for what the loop borrows from CUDA.
struct Stream {
  cudaStream_t handle = nullptr;
  Stream() { STAGHORN_CUDA_CHECK(cudaStreamCreateWithFlags(&handle, cudaStreamNonBlocking)); }
  ~Stream() { cudaStreamDestroy(handle); }
  Stream(const Stream&) = delete;
};

// Iterations in a graph, and what they were recorded for.
struct RecordedIterations {
  double mass;
  Parity parity;
  const void *x, *r, *p, *tmp;
  bool operator==(const RecordedIterations&) const = default;
};

// What the host looks at between batches, in pinned memory.
struct Glimpse {
  Scalars* host = nullptr;
  cudaEvent_t copied = nullptr;
  Glimpse() {
    STAGHORN_CUDA_CHECK(cudaMallocHost(&host, sizeof(Scalars)));
    STAGHORN_CUDA_CHECK(cudaEventCreateWithFlags(&copied, cudaEventDisableTiming));
  }
  ~Glimpse() {
    cudaEventDestroy(copied);
    cudaFreeHost(host);
  }
  Glimpse(const Glimpse&) = delete;
};

Scalars starting_scalars(StaggeredOperator& d, double mass, const std::vector<double>& r2,
                         const std::vector<double>& p2, const CgStop& stop) {
  Scalars s = {};
  s.n_rhs = int(r2.size());
  s.four_m2 = 4 * mass * mass;
  s.max_iterations = stop.max_iterations;
  s.stagnation_window = stop.stagnation_window;
  s.done = 1;
  s.n_ranks = d.peers() ? d.communicator().size() : 1;  // else NCCL has added the sums of all ranks
  s.rank = d.communicator().rank();
  s.silent_rank = -1;
  s.wait_limit_ns = patience_nanoseconds();
  if (s.n_ranks > 1)
    for (int rank = 0; rank < s.n_ranks; ++rank)
      s.mailbox[rank] = reinterpret_cast<cuda::Mail*>(d.peers()->mailbox(rank));
  if (s.n_ranks > 1) s.first_tag = d.peers()->next_tag();
  for (int i = 0; i < s.n_rhs; ++i) {
    s.r2[i] = s.smallest[i] = r2[i];
    s.p2[i] = p2[i];
    s.target[i] = stop.target_norm[i];
    s.outcome[i] = CgOutcome::out_of_iterations;
    s.bound[hop_phase][i] = s.bound[direction_phase][i] = sum_near(p2[i]).grid().bound;
    s.bound[residual_phase][i] = sum_near(r2[i]).grid().bound;
    s.active[i] = std::isfinite(r2[i]) && !(std::sqrt(r2[i]) <= s.target[i]);
    if (!std::isfinite(r2[i]))
      s.outcome[i] = CgOutcome::breakdown;
    else if (!s.active[i])
      s.outcome[i] = CgOutcome::converged;
    if (s.active[i] && stop.max_iterations > 0) s.done = 0;
    s.least_active = stop.until_first ? s.least_active + s.active[i] : 1;
  }
  return s;
}

// Whether the loop runs as one kernel. Alike on all ranks. Collective.
bool in_one_kernel(StaggeredOperator& d, LoopChoice kernels) {
  const OperatorOptions& of = d.options();
  const std::int64_t local_volume = d.lattice().local_volume();
  return takes_one_kernel(kernels, of.precision, of.n_rhs, local_volume) &&
         OneKernelLoop::can_run(d, takes_wide_kernel(kernels, local_volume));
}

}  // namespace

// What setting up takes a millisecond for.
struct CudaLoop {
  Buffer history, scalars{sizeof(Scalars), MemorySpace::cuda};
  Stream stream;
  Glimpse glimpses[2];
  RecordedIterations recorded = {};
  std::unique_ptr<cuda::RecordedWork> graphs[2];  // of these, the halves of cg_refresh_interval
  std::unique_ptr<OneKernelLoop> one_kernel[2];   // by parity
};

CgResult cuda_conjugate_gradient_loop(StaggeredOperator& d, double mass, Parity parity, ColorVectorField& x,
                                      ColorVectorField& r, ColorVectorField& p, ColorVectorField& tmp,
                                      const std::vector<double>& r2, const std::vector<double>& p2, const CgStop& stop,
                                      const std::function<void(const CgProgress&)>& progress,
                                      std::shared_ptr<CudaLoop>* keep) {
  const Activity activity("CG iterations on the GPU");
  const int n = int(r2.size());
  const Scalars start = starting_scalars(d, mass, r2, p2, stop);
  const std::shared_ptr<CudaLoop> loop = keep && *keep ? *keep : std::make_shared<CudaLoop>();
  if (keep) *keep = loop;
  auto& [history, scalars_buffer, stream, glimpses, recorded, graphs, one_kernels] = *loop;
  Scalars* scalars = reinterpret_cast<Scalars*>(scalars_buffer.data());
  const std::size_t history_bytes = std::size_t(stop.max_iterations + 1) * n * sizeof(double);
  if (history.bytes() < history_bytes) history = Buffer(history_bytes, MemorySpace::cuda);

  *glimpses[0].host = start;
  glimpses[0].host->history = reinterpret_cast<double*>(history.data());
  STAGHORN_CUDA_CHECK(cudaMemcpy(scalars, glimpses[0].host, sizeof(Scalars), cudaMemcpyHostToDevice));

  const HopView& to_other = d.view(opposite(parity));
  const HopView& to_parity = d.view(parity);
  PeerTransport* peers = d.peers();
  const bool several_ranks = start.n_ranks > 1;
  OneKernelLoop* one_kernel = nullptr;
  LoopForm form = d.faces().nccl() ? LoopForm::nccl : LoopForm::two_kernels;
  if (in_one_kernel(d, stop.kernels)) {
    std::unique_ptr<OneKernelLoop>& made = one_kernels[int(parity)];
    const bool wide = takes_wide_kernel(stop.kernels, d.lattice().local_volume());
    if (!made) made = std::make_unique<OneKernelLoop>(d, parity, wide);
    one_kernel = made.get();
    form = one_kernel->form();
    one_kernel->prepare({x.data(), r.data(), p.data(), tmp.data()}, start.four_m2);
  }
  constexpr int set_of_r = 0, set_of_tmp = 1;  // of ghosts; those of p, where it is given, are with r
  if (peers && !one_kernel) {
    cuda_kernels().pack_faces(to_other, p.data(), peers->outgoing(set_of_r));
    cuda::synchronize();
    d.communicator().barrier();
  }
  std::optional<NcclIteration> by_nccl;
  if (d.faces().nccl())
    by_nccl.emplace(d, parity, CgPointers{x.data(), r.data(), p.data(), tmp.data()}, scalars, start.four_m2,
                    stream.handle);
  const auto iteration = [&](bool given, cudaStream_t on) {
    if (by_nccl) return by_nccl->queue(given);
    cuda::HopArguments hop = cuda::hop_arguments(to_other);
    hop.in = given ? p.data() : r.data();
    hop.out = tmp.data();
    hop.beta = given ? nullptr : scalars->beta;
    hop.bound = scalars->bound[hop_phase];
    hop.cells = scalars->cells[hop_phase];
    hop.taken = scalars->taken[hop_phase];

    cuda::HopArguments residual = cuda::hop_arguments(to_parity);
    residual.in = tmp.data();
    residual.p = p.data();
    residual.out = r.data();
    residual.four_m2 = start.four_m2;
    residual.alpha = scalars->alpha;
    residual.beta = hop.beta;
    residual.x = x.data();
    residual.of_new = scalars->pending.of_new;
    residual.of_old = scalars->pending.of_old;
    residual.bound = scalars->bound[residual_phase];
    residual.cells = scalars->cells[residual_phase];
    residual.taken = scalars->taken[residual_phase];

    if (peers) {
      hop.ghosts = cuda::faces(peers->incoming(set_of_r));
      hop.push = cuda::faces(peers->outgoing(set_of_tmp));
      residual.ghosts = cuda::faces(peers->incoming(set_of_tmp));
      residual.push = cuda::faces(peers->outgoing(set_of_r));
    }
    cuda::launch_hop<HopUse::store_norm>(to_other, hop, LastBlock<hop_phase>{scalars, several_ranks},
                                         {on, HopPart::all, false});
    cuda::launch_hop<HopUse::update_residual>(to_parity, residual, LastBlock<residual_phase>{scalars, several_ranks},
                                              {on, HopPart::all, true});
  };
  const auto update_direction = [&](cudaStream_t on) {
    if (by_nccl) return by_nccl->queue_direction();
    cuda::DirectionArguments direction = {};
    direction.sites = cuda::hop_arguments(to_parity).sites;
    direction.p = p.data();
    direction.r = r.data();
    direction.beta = scalars->beta;
    direction.bound = scalars->bound[direction_phase];
    direction.cells = scalars->cells[direction_phase];
    direction.taken = scalars->taken[direction_phase];
    if (peers) direction.push = cuda::faces(peers->outgoing(set_of_r));
    cuda::launch_direction(to_parity, direction, LastBlock<direction_phase>{scalars, several_ranks}, {on});
  };

  // Iterations between two looks of the host. Up to two batches run for nothing at the end; one kernel ends where the
  // loop does, but takes 14 us to begin (16^3x32, fp32, one H200: with 8 of them an iteration takes 22.4 us, with 64
  // 20.6).
  constexpr int in_batch = cg_refresh_interval / 2, in_one_kernel = 128;
  // Each kernel walks the lattice against the one before: what that left in cache is what this one begins with.
  const auto iterations = [&](int half, void* on) {
    for (int k = 0; k < in_batch; ++k) iteration(half == 0 && k == 0, static_cast<cudaStream_t>(on));
    if (half == 1) update_direction(static_cast<cudaStream_t>(on));
  };
  if (by_nccl) by_nccl->begin();
  const RecordedIterations these{mass, parity, x.data(), r.data(), p.data(), tmp.data()};
  if (!one_kernel && !by_nccl && (!graphs[0] || recorded != these)) {
    for (int half = 0; half < 2; ++half)
      graphs[half] = std::make_unique<cuda::RecordedWork>([&](void* on) { iterations(half, on); });
    recorded = these;
  }

  int half = 0;  // of cg_refresh_interval, which comes next
  const auto launch_batch = [&](Glimpse& glimpse) {
    adverse_delay(start.rank);
    if (one_kernel) {
      one_kernel->launch(scalars, in_one_kernel, stream.handle);
    } else if (by_nccl) {  // in a graph NCCL is slower: 87 against 83 us an iteration at 16^3x32 in fp32 on two GPUs
      iterations(half, stream.handle);
    } else {
      graphs[half]->start(stream.handle);
    }
    half = 1 - half;
    STAGHORN_CUDA_CHECK(
        cudaMemcpyAsync(glimpse.host, scalars, offsetof(Scalars, cells), cudaMemcpyDeviceToHost, stream.handle));
    STAGHORN_CUDA_CHECK(cudaEventRecord(glimpse.copied, stream.handle));
  };
  const auto await = [&](const Glimpse& glimpse) {
    if (!by_nccl) return STAGHORN_CUDA_CHECK(cudaEventSynchronize(glimpse.copied));
    const std::string trouble = by_nccl->await(glimpse.copied);
    if (trouble.empty()) return;
    by_nccl->give_up();
    throw Stalled("rank " + std::to_string(start.rank) + ": " + trouble);
  };
  const Scalars* seen = glimpses[0].host;
  if (!start.done) launch_batch(glimpses[0]);
  for (int turn = 0; !start.done; turn = 1 - turn) {
    launch_batch(glimpses[1 - turn]);  // the GPU stays busy while the host looks at the batch before
    await(glimpses[turn]);
    seen = glimpses[turn].host;
    made_progress();
    if (progress) {
      double worst = 0;
      for (int i = 0; i < n; ++i) worst = std::max(worst, std::sqrt(seen->r2[i]) / stop.target_norm[i]);
      progress({long(seen->iteration), worst});
    }
    if (seen->done) break;
  }
  STAGHORN_CUDA_CHECK(cudaStreamSynchronize(stream.handle));
  if (seen->silent_rank >= 0)
    throw Stalled("rank " + std::to_string(start.rank) + " had no answer from rank " +
                  std::to_string(seen->silent_rank) + " for " + three_digits(patience_seconds()) + " s");
  if (several_ranks) {
    peers->use_tags(std::uint32_t(seen->iteration) + 1);
    d.communicator().barrier();
  }

  const long long longest = *std::max_element(seen->iterations, seen->iterations + n);
  std::vector<double> r2_history(std::size_t((longest + 1) * n));
  cuda::copy_to_host(r2_history.data(), history.data(), r2_history.size() * sizeof(double));
  std::vector<double> direction_norm2(seen->p2, seen->p2 + n);
  if (seen->iteration > 0) {  // p as it goes on, and what x lacks
    std::vector<ExactSum> sums;
    for (const double near : direction_norm2) sums.push_back(sum_near(near));
    direction_norm2 = d.update_direction(x, p, r, parity, {seen->pending.waiting, std::size_t(n)},
                                         {seen->beta, std::size_t(n)}, sums);
  }
  std::vector<CgColumn> columns;
  for (int i = 0; i < n; ++i) {
    CgColumn column;
    column.outcome = seen->outcome[i];
    column.iterations = long(seen->iterations[i]);
    column.history.push_back(r2[i]);
    for (long k = 1; k <= column.iterations; ++k) column.history.push_back(r2_history[std::size_t(k * n + i)]);
    column.residual_norm = std::sqrt(column.history.back());
    column.direction_norm2 = direction_norm2[std::size_t(i)];
    columns.push_back(std::move(column));
  }
  return {std::move(columns), form, {}};
}

}  // namespace staghorn
