// One iteration is three kernels, named after the lines of CG that they are:
//
//   hop and norm        tmp = D p;                 alpha = |r|^2 / (4m^2 |p|^2 + |tmp|^2)
//   residual update     r -= alpha (4m^2 p - D tmp);  beta = |r_new|^2 / |r|^2
//   direction update    x += alpha p;  p = r + beta p;  |p|^2, and whether we are done
//
// The scalars on the right are computed by the last block of each kernel (LastBlock), when all its sums are complete.
// Once every right-hand side is done, kernels return at once, so iterations launched ahead cost nothing and change
// nothing. Memory moved per iteration and site: two passes over the links and 66 reals of vectors.
#include <algorithm>
#include <cmath>
#include <limits>

#include "dirac/cuda_hop.cuh"
#include "halo/cuda_check.hpp"
#include "halo/cuda_device.hpp"
#include "solver/cuda_conjugate_gradient.hpp"

namespace staghorn {

namespace {

using cuda::cells_per_sum;
using cuda::SumCell;

enum Phase { hop_phase, residual_phase, direction_phase, n_phases };

// Everything that CG remembers besides vectors; one array entry per right-hand side. Lives on the device.
struct Scalars {
  double alpha[max_rhs], beta[max_rhs], r2[max_rhs], p2[max_rhs], target[max_rhs], smallest[max_rhs];
  double bound[n_phases][max_rhs];  // of the sums
  long long iterations[max_rhs], since_smallest[max_rhs];
  CgOutcome outcome[max_rhs];
  bool active[max_rhs];
  SumCell cells[n_phases][max_rhs * cells_per_sum];
  double* history;  // [iteration][rhs] |r|^2
  double four_m2;
  long long iteration, max_iterations, stagnation_window;
  int n_rhs, least_active;  // the loop ends when fewer are active
  unsigned finished_blocks[n_phases];
  int done;
};

// SumGrid::for_bound(value 2^20).bound: the smallest power of two that is not below, as bits.
__device__ double sum_bound(double value) {
  const double largest = value * 0x1p20;
  long long bits = __double_as_longlong(largest);
  if (bits & ((1LL << 52) - 1)) bits += 1LL << 52;
  const long long exponent = min(max((bits >> 52) - 1023, -900LL), 960LL);
  return __longlong_as_double((exponent + 1023) << 52);
}

// The sum in a set of cells, rounded once, and the cells cleared for the next iteration. NaN if anything did not fit.
__device__ double take_sum(SumCell* cells, double& bound) {
  __int128 total = 0;
  bool overflow = false;
  for (int c = 0; c < cells_per_sum; ++c) {
    total += (static_cast<__int128>(__ldcg(&cells[c].high)) << 42) + __ldcg(&cells[c].low);
    overflow |= __ldcg(&cells[c].overflow) != 0;
    cells[c] = SumCell{};
  }
  if (overflow) return __longlong_as_double(0x7ff8000000000000LL);
  const double value = static_cast<double>(total) * (bound * 0x1p-84);
  if (value > 0) bound = sum_bound(value);
  return value;
}

__device__ void finish_hop(Scalars& s, int i) {
  const double tmp2 = take_sum(&s.cells[hop_phase][i * cells_per_sum], s.bound[hop_phase][i]);
  const double p_A_p = s.four_m2 * s.p2[i] + tmp2;
  if (s.active[i] && !(p_A_p > 0)) {
    s.outcome[i] = CgOutcome::breakdown;
    s.active[i] = false;
  }
  s.alpha[i] = s.active[i] ? s.r2[i] / p_A_p : 0;
}

__device__ void finish_residual(Scalars& s, int i) {
  const double r2 = take_sum(&s.cells[residual_phase][i * cells_per_sum], s.bound[residual_phase][i]);
  s.beta[i] = s.active[i] ? r2 / s.r2[i] : 0;
  s.r2[i] = r2;
}

__device__ void finish_direction(Scalars& s, int i) {
  s.p2[i] = take_sum(&s.cells[direction_phase][i * cells_per_sum], s.bound[direction_phase][i]);
  if (!s.active[i]) return;
  const double r2 = s.r2[i], norm = sqrt(r2);
  ++s.iterations[i];
  s.history[s.iterations[i] * s.n_rhs + i] = r2;
  const auto end = [&](CgOutcome outcome) {
    s.outcome[i] = outcome;
    s.active[i] = false;
  };
  if (!isfinite(r2)) return end(CgOutcome::breakdown);
  if (norm <= s.target[i]) return end(CgOutcome::converged);
  if (r2 < s.smallest[i]) {
    s.smallest[i] = r2;
    s.since_smallest[i] = 0;
  } else if (++s.since_smallest[i] >= s.stagnation_window && s.stagnation_window > 0) {
    end(CgOutcome::stagnated);
  }
}

// What runs at the end of each kernel: the last block to finish computes the scalars.
template <Phase phase>
struct LastBlock {
  Scalars* scalars;

  __device__ bool done() const { return __ldcg(&scalars->done) != 0; }

  __device__ void operator()() const {
    __shared__ bool last;
    Scalars& s = *scalars;
    if (threadIdx.x == 0) {
      __threadfence();
      last = atomicAdd(&s.finished_blocks[phase], 1u) == gridDim.x * gridDim.y - 1;
    }
    __syncthreads();
    if (!last) return;
    __threadfence();
    const int i = int(threadIdx.x);
    bool active = false;
    if (i < s.n_rhs) {
      if constexpr (phase == hop_phase) finish_hop(s, i);
      if constexpr (phase == residual_phase) finish_residual(s, i);
      if constexpr (phase == direction_phase) finish_direction(s, i);
      active = s.active[i];
    }
    const int n_active = __syncthreads_count(active);
    if (threadIdx.x == 0) {
      s.finished_blocks[phase] = 0;
      if (phase == direction_phase) s.done = n_active < s.least_active || ++s.iteration >= s.max_iterations;
    }
  }
};

// RAII for what the loop borrows from CUDA.
struct Stream {
  cudaStream_t handle = nullptr;
  Stream() { STAGHORN_CUDA_CHECK(cudaStreamCreateWithFlags(&handle, cudaStreamNonBlocking)); }
  ~Stream() { cudaStreamDestroy(handle); }
  Stream(const Stream&) = delete;
};

struct Graph {
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t executable = nullptr;
  ~Graph() {
    if (executable) cudaGraphExecDestroy(executable);
    if (graph) cudaGraphDestroy(graph);
  }
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

Scalars starting_scalars(double mass, const std::vector<double>& r2, const std::vector<double>& p2,
                         const CgStop& stop) {
  Scalars s = {};
  s.n_rhs = int(r2.size());
  s.four_m2 = 4 * mass * mass;
  s.max_iterations = stop.max_iterations;
  s.stagnation_window = stop.stagnation_window;
  s.done = 1;
  for (int i = 0; i < s.n_rhs; ++i) {
    s.r2[i] = s.smallest[i] = r2[i];
    s.p2[i] = p2[i];
    s.target[i] = stop.target_norm[i];
    s.outcome[i] = CgOutcome::out_of_iterations;
    s.bound[hop_phase][i] = s.bound[direction_phase][i] = ExactSum(p2[i] > 0 ? p2[i] : 1).grid().bound;
    s.bound[residual_phase][i] = ExactSum(r2[i] > 0 ? r2[i] : 1).grid().bound;
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

}  // namespace

std::vector<CgColumn> cuda_conjugate_gradient_loop(StaggeredOperator& d, double mass, Parity parity,
                                                   ColorVectorField& x, ColorVectorField& r, ColorVectorField& p,
                                                   ColorVectorField& tmp, const std::vector<double>& r2,
                                                   const std::vector<double>& p2, const CgStop& stop,
                                                   const std::function<void(const CgProgress&)>& progress) {
  const int n = int(r2.size());
  const Scalars start = starting_scalars(mass, r2, p2, stop);
  const Buffer history(std::size_t(stop.max_iterations + 1) * n * sizeof(double), MemorySpace::cuda);
  Buffer scalars_buffer(sizeof(Scalars), MemorySpace::cuda);
  Scalars* scalars = reinterpret_cast<Scalars*>(scalars_buffer.data());
  Stream stream;
  Glimpse glimpses[2];

  *glimpses[0].host = start;
  glimpses[0].host->history = reinterpret_cast<double*>(const_cast<std::byte*>(history.data()));
  STAGHORN_CUDA_CHECK(cudaMemcpy(scalars, glimpses[0].host, sizeof(Scalars), cudaMemcpyHostToDevice));

  const HopView& to_other = d.view(opposite(parity));
  const HopView& to_parity = d.view(parity);
  const auto iteration = [&] {
    cuda::HopArguments hop = cuda::hop_arguments(to_other);  // tmp = D p
    hop.in = p.data();
    hop.out = tmp.data();
    hop.bound = scalars->bound[hop_phase];
    hop.cells = scalars->cells[hop_phase];
    cuda::launch_hop<HopUse::store_norm>(to_other, hop, LastBlock<hop_phase>{scalars}, stream.handle);

    cuda::HopArguments residual = cuda::hop_arguments(to_parity);  // r -= alpha (4m^2 p - D tmp)
    residual.in = tmp.data();
    residual.p = p.data();
    residual.out = r.data();
    residual.four_m2 = start.four_m2;
    residual.alpha = scalars->alpha;
    residual.bound = scalars->bound[residual_phase];
    residual.cells = scalars->cells[residual_phase];
    cuda::launch_hop<HopUse::update_residual>(to_parity, residual, LastBlock<residual_phase>{scalars}, stream.handle);

    cuda::launch_direction(to_parity,  // x += alpha p;  p = r + beta p
                           {x.data(), p.data(), r.data(), residual.sites, scalars->alpha, scalars->beta,
                            scalars->bound[direction_phase], scalars->cells[direction_phase]},
                           LastBlock<direction_phase>{scalars}, stream.handle);
  };

  Graph graph;
  STAGHORN_CUDA_CHECK(cudaStreamBeginCapture(stream.handle, cudaStreamCaptureModeThreadLocal));
  iteration();
  STAGHORN_CUDA_CHECK(cudaStreamEndCapture(stream.handle, &graph.graph));
  STAGHORN_CUDA_CHECK(cudaGraphInstantiate(&graph.executable, graph.graph, 0));

  constexpr int batch = 32;
  const auto launch_batch = [&](Glimpse& glimpse) {
    for (int k = 0; k < batch; ++k) STAGHORN_CUDA_CHECK(cudaGraphLaunch(graph.executable, stream.handle));
    STAGHORN_CUDA_CHECK(cudaMemcpyAsync(glimpse.host, scalars, sizeof(Scalars), cudaMemcpyDeviceToHost, stream.handle));
    STAGHORN_CUDA_CHECK(cudaEventRecord(glimpse.copied, stream.handle));
  };
  const Scalars* seen = glimpses[0].host;
  if (!start.done) launch_batch(glimpses[0]);
  for (int turn = 0; !start.done; turn = 1 - turn) {
    launch_batch(glimpses[1 - turn]);  // the GPU stays busy while the host looks at the batch before
    STAGHORN_CUDA_CHECK(cudaEventSynchronize(glimpses[turn].copied));
    seen = glimpses[turn].host;
    if (progress) {
      double worst = 0;
      for (int i = 0; i < n; ++i) worst = std::max(worst, std::sqrt(seen->r2[i]) / stop.target_norm[i]);
      progress({long(seen->iteration), worst});
    }
    if (seen->done) break;
  }
  STAGHORN_CUDA_CHECK(cudaStreamSynchronize(stream.handle));

  std::vector<double> r2_history(history.bytes() / sizeof(double));
  cuda::copy_to_host(r2_history.data(), history.data(), history.bytes());
  std::vector<CgColumn> columns;
  for (int i = 0; i < n; ++i) {
    CgColumn column;
    column.outcome = seen->outcome[i];
    column.iterations = long(seen->iterations[i]);
    column.history.push_back(r2[i]);
    for (long k = 1; k <= column.iterations; ++k) column.history.push_back(r2_history[std::size_t(k * n + i)]);
    column.residual_norm = std::sqrt(column.history.back());
    column.direction_norm2 = seen->p2[i];
    columns.push_back(std::move(column));
  }
  return columns;
}

}  // namespace staghorn
