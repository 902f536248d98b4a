#include "dirac/algebra/dispatch.hpp"
#include "dirac/kernels/cuda/cuda_access.cuh"
#include "dirac/kernels/cuda/cuda_scratch.cuh"
#include "dirac/kernels/cuda/cuda_vector_kernels.hpp"

namespace staghorn::cuda {

namespace {

constexpr int threads = 256;

template <class Stored>
__global__ void __launch_bounds__(threads) norm2_kernel(const Stored* v, int V, const double* bound, SumCell* cells) {
  const int site = int(blockIdx.x) * threads + int(threadIdx.x), rhs = int(blockIdx.y);
  double norm2 = 0;
  if (site < V) {
    Arithmetic<Stored> reals[6];
    load_vector<Caching::plain>(v + vector_offset<Stored>(rhs, V), V, site, reals);
    norm2 = contribution(reals);
  }
  ThreadSum sum;
  sum.add(norm2, bound[rhs]);
  flush<threads>(sum, bound[rhs], cells + rhs * cells_per_sum);
}

template <class Real>
__global__ void combine_kernel(long long n, Real alpha, const Real* a, Real beta, Real* b) {
  const long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (i < n) b[i] = multiply_add(alpha, a[i], beta * b[i]);
}

__global__ void read_kernel(const longlong2* data, long long n, unsigned long long* sum) {
  long long total = 0;
  for (long long k = blockIdx.x * (long long)blockDim.x + threadIdx.x; k < n; k += (long long)gridDim.x * blockDim.x) {
    const longlong2 word = __ldcs(data + k);
    total += word.x + word.y;
  }
  if (total != 0) atomicAdd(sum, (unsigned long long)total);
}

}  // namespace

void norm2(const VectorShape& shape, const LaunchContext& launch, const void* v, const SumGrid* grids,
           ExactPartial* sums) {
  send_scalars(launch, shape.n_rhs, {}, grids);
  Scratch* scratch = on_device(launch);
  const dim3 grid((shape.lanes + threads - 1) / threads, shape.n_rhs);
  with_stored(shape.precision, v, [&](const auto* stored) {
    norm2_kernel<<<grid, threads>>>(stored, shape.lanes, scratch->bound, scratch->cells);
  });
  STAGHORN_CUDA_CHECK_LAUNCH(norm2_kernel);
  collect_sums(launch, shape.n_rhs, sums);
}

void combine(Precision precision, std::int64_t n, double alpha, const void* a, double beta, void* b) {
  const unsigned blocks = unsigned((n + threads - 1) / threads);
  if (precision == Precision::fp64)
    combine_kernel<<<blocks, threads>>>(n, alpha, static_cast<const double*>(a), beta, static_cast<double*>(b));
  else
    combine_kernel<<<blocks, threads>>>(n, float(alpha), static_cast<const float*>(a), float(beta),
                                        static_cast<float*>(b));
  STAGHORN_CUDA_CHECK_LAUNCH(combine_kernel);
}

void read_stream(const void* data, std::int64_t bytes, std::int64_t* sum) {
  read_kernel<<<132 * 16, 512>>>(static_cast<const longlong2*>(data), bytes / 16,
                                 reinterpret_cast<unsigned long long*>(sum));
  STAGHORN_CUDA_CHECK_LAUNCH(read_kernel);
  STAGHORN_CUDA_CHECK(cudaDeviceSynchronize());
}

}  // namespace staghorn::cuda
