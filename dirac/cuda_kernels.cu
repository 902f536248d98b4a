// The table of CUDA kernels: each call launches, waits, and hands the sums to the host. (CG on the device keeps its
// scalars there and launches the same kernels itself.)
#include <numbers>
#include <type_traits>

#include "dirac/cuda_hop.cuh"
#include "halo/cuda_check.hpp"

namespace staghorn::cuda {

namespace {

// The layout of HopView::scratch.
struct Scratch {
  double alpha[max_rhs], beta[max_rhs], bound[max_rhs];
  SumCell cells[max_rhs * cells_per_sum];
};

void put(double* to, const double* from, int n) {
  STAGHORN_CUDA_CHECK(cudaMemcpy(to, from, n * sizeof(double), cudaMemcpyHostToDevice));
}

void prepare_sums(Scratch* scratch, const SumGrid* grids, int n) {
  double bound[max_rhs];
  for (int r = 0; r < n; ++r) bound[r] = grids[r].bound;
  put(scratch->bound, bound, n);
  STAGHORN_CUDA_CHECK(cudaMemset(scratch->cells, 0, n * cells_per_sum * sizeof(SumCell)));
}

void collect_sums(const Scratch* scratch, ExactPartial* sums, int n) {
  SumCell cells[max_rhs * cells_per_sum];
  STAGHORN_CUDA_CHECK(cudaMemcpy(cells, scratch->cells, n * cells_per_sum * sizeof(SumCell), cudaMemcpyDeviceToHost));
  for (int r = 0; r < n; ++r)
    for (int c = 0; c < cells_per_sum; ++c) {
      const SumCell& cell = cells[r * cells_per_sum + c];
      sums[r].total += (static_cast<__int128>(cell.high) << 42) + cell.low;
      sums[r].overflow |= cell.overflow != 0;
    }
}

void hop(const HopView& view, const HopCall& call) {
  HopArguments a = hop_arguments(view);
  Scratch* scratch = static_cast<Scratch*>(view.scratch);
  a.in = call.in;
  a.out = call.out;
  a.p = call.p;
  a.four_m2 = call.four_m2;
  a.alpha = scratch->alpha;
  a.cells = scratch->cells;
  const bool sums = call.use != HopUse::store;
  if (sums) {
    prepare_sums(scratch, call.grids, view.n_rhs);
    a.bound = scratch->bound;
  }
  if (call.use == HopUse::update_residual) {
    put(scratch->alpha, call.alpha, view.n_rhs);
    launch_hop<HopUse::update_residual>(view, a, NoFinish(), nullptr);
  } else {
    launch_hop<HopUse::store_norm>(view, a, NoFinish(), nullptr);
  }
  STAGHORN_CUDA_CHECK(cudaGetLastError());
  if (sums) collect_sums(scratch, call.sums, view.n_rhs);
}

void update_direction(const HopView& view, const DirectionCall& call) {
  Scratch* scratch = static_cast<Scratch*>(view.scratch);
  prepare_sums(scratch, call.grids, view.n_rhs);
  put(scratch->alpha, call.alpha, view.n_rhs);
  put(scratch->beta, call.beta, view.n_rhs);
  const HopArguments sizes = hop_arguments(view);
  launch_direction(view,
                   {call.x, call.p, call.r, sizes.sites, scratch->alpha, scratch->beta, scratch->bound, scratch->cells},
                   NoFinish(), nullptr);
  STAGHORN_CUDA_CHECK(cudaGetLastError());
  collect_sums(scratch, call.sums, view.n_rhs);
}

template <class Real>
__global__ void __launch_bounds__(update_threads)
    norm2_kernel(const Real* v, int sites, const double* bound, SumCell* cells) {
  const int site = int(blockIdx.x) * update_threads + int(threadIdx.x), rhs = int(blockIdx.y);
  double norm2 = 0;
  if (site < sites) {
    Real reals[6];
    load_object<6, Caching::plain>(v + (long long)rhs * 6 * sites, sites, site, reals);
    norm2 = site_norm2(reals);
  }
  ThreadSum sum;
  sum.add(norm2, bound[rhs]);
  sum.flush<update_threads>(bound[rhs], cells + rhs * cells_per_sum);
}

void norm2(const HopView& view, const void* v, const SumGrid* grids, ExactPartial* sums) {
  Scratch* scratch = static_cast<Scratch*>(view.scratch);
  prepare_sums(scratch, grids, view.n_rhs);
  const int sites = hop_arguments(view).sites;
  const dim3 grid((sites + update_threads - 1) / update_threads, view.n_rhs);
  if (view.precision == Precision::fp64)
    norm2_kernel<<<grid, update_threads>>>(static_cast<const double*>(v), sites, scratch->bound, scratch->cells);
  else
    norm2_kernel<<<grid, update_threads>>>(static_cast<const float*>(v), sites, scratch->bound, scratch->cells);
  STAGHORN_CUDA_CHECK(cudaGetLastError());
  collect_sums(scratch, sums, view.n_rhs);
}

template <class Real>
__global__ void combine_kernel(long long n, Real alpha, const Real* a, Real beta, Real* b) {
  const long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (i < n) b[i] = multiply_add(alpha, a[i], beta * b[i]);
}

void combine(Precision precision, std::int64_t n, double alpha, const void* a, double beta, void* b) {
  const unsigned blocks = unsigned((n + update_threads - 1) / update_threads);
  if (precision == Precision::fp64)
    combine_kernel<<<blocks, update_threads>>>(n, alpha, static_cast<const double*>(a), beta, static_cast<double*>(b));
  else
    combine_kernel<<<blocks, update_threads>>>(n, float(alpha), static_cast<const float*>(a), float(beta),
                                               static_cast<float*>(b));
  STAGHORN_CUDA_CHECK(cudaGetLastError());
}

template <class To, class From>
__global__ void convert_kernel(To* to, const From* from, int sites) {
  const int site = int(blockIdx.x) * update_threads + int(threadIdx.x);
  if (site >= sites) return;
  const long long offset = (long long)blockIdx.y * 6 * sites;
  From source[6];
  To result[6];
  load_object<6, Caching::plain>(from + offset, sites, site, source);
#pragma unroll
  for (int k = 0; k < 6; ++k) result[k] = To(source[k]);
  store_object(to + offset, sites, site, result);
}

__global__ void read_kernel(const longlong2* data, long long n, unsigned long long* sum) {
  long long total = 0;
  for (long long k = blockIdx.x * (long long)blockDim.x + threadIdx.x; k < n; k += (long long)gridDim.x * blockDim.x) {
    const longlong2 word = __ldcs(data + k);
    total += word.x + word.y;
  }
  if (total != 0) atomicAdd(sum, (unsigned long long)total);
}

void read_stream(const void* data, std::int64_t bytes, std::int64_t* sum) {
  read_kernel<<<132 * 16, 512>>>(static_cast<const longlong2*>(data), bytes / 16,
                                 reinterpret_cast<unsigned long long*>(sum));
  STAGHORN_CUDA_CHECK(cudaGetLastError());
  STAGHORN_CUDA_CHECK(cudaDeviceSynchronize());
}

}  // namespace

HopArguments hop_arguments(const HopView& view) {
  HopArguments a = {};
  a.links_here = view.links_here;
  a.links_there = view.links_there;
  a.target = view.target;
  a.n_rhs = view.n_rhs;
  a.sites = view.extents[0] / 2 * view.extents[1] * view.extents[2] * view.extents[3];
  for (int mu = 0; mu < 4; ++mu) {
    a.extents[mu] = view.extents[mu];
    a.antiperiodic[mu] = view.theta[mu] == 1;
    a.phase[mu] = view.theta[mu] != 0 && view.theta[mu] != 1;
    a.cosine[mu] = view.phase[2 * mu][0];
    a.sine[mu] = view.phase[2 * mu][1];
  }
  return a;
}

}  // namespace staghorn::cuda

namespace staghorn {

void cuda_convert_vectors(Precision precision, void* to, const void* from, int sites, int n_rhs) {
  const dim3 grid((sites + cuda::update_threads - 1) / cuda::update_threads, n_rhs);
  if (precision == Precision::fp64)
    cuda::convert_kernel<<<grid, cuda::update_threads>>>(static_cast<double*>(to), static_cast<const float*>(from),
                                                         sites);
  else
    cuda::convert_kernel<<<grid, cuda::update_threads>>>(static_cast<float*>(to), static_cast<const double*>(from),
                                                         sites);
  STAGHORN_CUDA_CHECK(cudaGetLastError());
}

const Kernels& cuda_kernels() {
  static const Kernels table = {"cuda",
                                MemorySpace::cuda,
                                0,
                                16,
                                std::int64_t(sizeof(cuda::Scratch)),
                                cuda::hop,
                                cuda::update_direction,
                                cuda::norm2,
                                cuda::combine,
                                cuda::read_stream};
  return table;
}

}  // namespace staghorn
