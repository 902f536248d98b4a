// Products of many vectors on a GPU. Each call launches, waits, and hands its sums to the host.
//
// Bytes and flops per site are those of the kernels on the CPU (cpu_vector_kernels.cpp).
#include <algorithm>
#include <cstddef>

#include "dirac/algebra/dispatch.hpp"
#include "dirac/kernels/cuda/cuda_launch.cuh"
#include "dirac/kernels/cuda/cuda_shifted_update.hpp"
#include "dirac/kernels/cuda/products/cuda_combine.hpp"
#include "dirac/kernels/cuda/products/cuda_gram.cuh"
#include "dirac/kernels/cuda/products/cuda_projection.cuh"
#include "halo/cuda/cuda_check.hpp"
#include "halo/cuda/cuda_event.hpp"

namespace staghorn::cuda {

namespace {

constexpr int vector_threads = 128;

// Where the sums of a call lie in its scratch: as close together as they can, since they are copied.
struct ProductScratch {
  CellTotal *re, *im;           // of each pair
  unsigned long long* largest;  // of the columns of a, then of b
  std::size_t bytes;

  ProductScratch(void* scratch, std::size_t pairs, std::size_t columns)
      : re(static_cast<CellTotal*>(scratch)),
        im(re + pairs),
        largest(reinterpret_cast<unsigned long long*>(im + pairs)),
        bytes(bytes_of(pairs, columns)) {}
  static constexpr std::size_t bytes_of(std::size_t pairs, std::size_t columns) {
    return 2 * pairs * sizeof(CellTotal) + columns * sizeof(unsigned long long);
  }
};
constexpr std::size_t scratch_bytes =
    std::max(ProductScratch::bytes_of(max_products, max_products + max_columns), combine_scratch_bytes);

// Zero, on the GPU, once what was queued before has run.
ProductScratch empty_scratch(const ProductCall& call, std::size_t pairs) {
  const ProductScratch scratch(call.scratch, pairs, call.a.size() + call.b.size());
  STAGHORN_CUDA_CHECK(cudaMemsetAsync(call.scratch, 0, scratch.bytes));
  return scratch;
}

DeviceCells cells_of(const ProductCall& call) {
  DeviceCells cells = {call.device_cells, {}, int(call.cells->count), unsigned(call.lanes)};
  std::copy(call.cells->offsets.begin(), call.cells->offsets.end(), cells.offset);
  return cells;
}

void append(ColumnList& list, int first, std::span<const VectorColumn> columns) {
  for (std::size_t i = 0; i < columns.size(); ++i) {
    list.data[std::size_t(first) + i] = columns[i].data;
    list.scale[std::size_t(first) + i] = columns[i].scale;
  }
}

// Waits for the kernel; adds its totals and largest norms to the call's.
void collect(const ProductCall& call, std::size_t pairs) {
  const ProductScratch found(call.scratch_host, pairs, call.a.size() + call.b.size());
  STAGHORN_CUDA_CHECK(cudaMemcpyAsync(call.scratch_host, call.scratch, found.bytes, cudaMemcpyDeviceToHost));
  if (call.meanwhile) {
    Event copied;
    copied.record(nullptr);
    (*call.meanwhile)();
    copied.await();
  } else {
    STAGHORN_CUDA_CHECK(cudaStreamSynchronize(nullptr));
  }
  for (std::size_t p = 0; p < pairs; ++p) add_to(call.re[p], found.re[p]), add_to(call.im[p], found.im[p]);
  const auto raise = [](double& largest, unsigned long long bits) {
    const double seen = __builtin_bit_cast(double, bits);
    if (!(seen <= largest)) largest = seen;
  };
  for (std::size_t i = 0; i < call.a.size(); ++i) raise(call.largest_a[i], found.largest[i]);
  for (std::size_t j = 0; j < call.b.size(); ++j) raise(call.largest_b[j], found.largest[call.a.size() + j]);
}

// Blocks of a kernel whose threads go through at most CellGrid::capacity of `rounds` pieces each.
template <class Kernel>
int blocks_of(Kernel kernel, int threads, int rounds) {
  return grid_size(kernel, threads, rounds, 1, 0, CellGrid::capacity);
}

struct DotArguments {
  ColumnList a, b;
  DeviceCells cells;
  ProductScratch sums;
  int pairs;
};

// A thread takes one cell after the other of the pair of columns blockIdx.y.
template <class Stored>
__global__ void __launch_bounds__(vector_threads, 5) dot_kernel(const __grid_constant__ DotArguments arguments) {
  const int pair = int(blockIdx.y);
  const DeviceCells& cells = arguments.cells;
  const Stored* const a = static_cast<const Stored*>(arguments.a.data[pair]);
  const Stored* const b = static_cast<const Stored*>(arguments.b.data[pair]);
  const double scale_a = arguments.a.scale[pair], scale_b = arguments.b.scale[pair];
  unsigned long long largest_a = 0, largest_b = 0;
  CellLimbs re, im;
  for (int cell = int(blockIdx.x) * vector_threads + int(threadIdx.x); cell < cells.count;
       cell += int(gridDim.x) * vector_threads) {
    const int first = cells.first[cell];
    CellNorm<double> norm_a{}, norm_b{};
    CellProduct<double> product{};
#pragma unroll 2
    for (int site = 0; site < SiteCells::sites; ++site) {
      const unsigned slot = unsigned(first + cells.offset[site]);
      Arithmetic<Stored> u[6], v[6];
      load_vector<Caching::streaming>(a, cells.V, slot, u);
      load_vector<Caching::streaming>(b, cells.V, slot, v);
#pragma unroll
      for (int c = 0; c < 3; ++c) {
        const double a_re = double(u[2 * c]) * scale_a, a_im = double(u[2 * c + 1]) * scale_a;
        const double b_re = double(v[2 * c]) * scale_b, b_im = double(v[2 * c + 1]) * scale_b;
        norm_a.add(a_re, a_im);
        norm_b.add(b_re, b_im);
        product.add({a_re, a_im, a_re + a_im}, {b_re, b_im, b_re - b_im});
      }
    }
    largest_a = max(largest_a, norm_bits(norm_a.value()));
    largest_b = max(largest_b, norm_bits(norm_b.value()));
    const Complex<double> value = product.value();
    re.add(value.re);
    im.add(value.im);
  }
  __shared__ CellShare share[2];
  __shared__ unsigned long long largest[2];
  if (threadIdx.x < 2) share[threadIdx.x] = {0, 0}, largest[threadIdx.x] = 0;
  __syncthreads();
  raise_by_warp(largest[0], largest_a);
  raise_by_warp(largest[1], largest_b);
  const bool all_fit = !__syncthreads_or(!fits(largest_a) || !fits(largest_b));
  if (all_fit) {
    add_warp_to_share(share[0], re);
    add_warp_to_share(share[1], im);
  }
  __syncthreads();
  if (threadIdx.x != 0) return;
  atomicMax(&arguments.sums.largest[pair], largest[0]);
  atomicMax(&arguments.sums.largest[arguments.pairs + pair], largest[1]);
  if (!all_fit) return;
  add_share(arguments.sums.re[pair], share[0]);
  add_share(arguments.sums.im[pair], share[1]);
}

void dot(const ProductCall& call) {
  DotArguments a = {{}, {}, cells_of(call), empty_scratch(call, call.a.size()), int(call.a.size())};
  append(a.a, 0, call.a);
  append(a.b, 0, call.b);
  with_stored(call.precision, call.a[0].data, [&]<class Stored>(const Stored*) {
    const int rounds = (a.cells.count + vector_threads - 1) / vector_threads;
    const int blocks = blocks_of(dot_kernel<Stored>, vector_threads, rounds * a.pairs);  // of all pairs together
    const dim3 grid(std::min(rounds, (blocks + a.pairs - 1) / a.pairs), a.pairs);
    dot_kernel<Stored><<<grid, vector_threads>>>(a);
  });
  STAGHORN_CUDA_CHECK_LAUNCH(dot_kernel);
  collect(call, call.a.size());
}

// As many panels as the memory of a block holds; panels of fewer cells where it does not hold two.
void fit_into_shared_memory(GramShape& shape) {
  int device = 0, most = 0;
  STAGHORN_CUDA_CHECK(cudaGetDevice(&device));
  STAGHORN_CUDA_CHECK(cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, device));
  const auto fits = [&] { return shape.shared_bytes() <= std::size_t(most); };
  while (shape.buffers > 2 && !fits()) --shape.buffers;
  while (shape.width > 1 && !fits()) shape.set_width(GramShape::narrower(shape.width));
}

template <class Stored, ChainBy chain>
void launch_gram(GramArguments& a) {
  fit_into_shared_memory(a.shape);
  const GramShape& shape = a.shape;
  const int shared = int(shape.shared_bytes()), rounds = (a.cells.count + shape.width - 1) / shape.width;
  const int cells_of_warp = (shape.width + shape.warps_of_job - 1) / shape.warps_of_job;
  const auto kernel = gram_kernel<Stored, chain>;
  STAGHORN_CUDA_CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared));
  const int blocks = grid_size(kernel, gram_threads, rounds, 1, shared, CellGrid::capacity / cells_of_warp);
  kernel<<<blocks, gram_threads, shared>>>(a);
}

// Up to max_products columns with one, max_columns in each launch.
void project(const ProductCall& call) {
  const ProductScratch sums = empty_scratch(call, call.a.size());
  for (std::size_t first = 0; first < call.a.size(); first += max_columns) {
    ProjectionArguments a = {};
    a.n = int(std::min(call.a.size() - first, std::size_t(max_columns)));
    append(a.columns, 0, call.a.subspan(first, std::size_t(a.n)));
    append(a.columns, a.n, call.b);
    a.cells = cells_of(call);
    a.re = sums.re + first, a.im = sums.im + first;
    a.largest = sums.largest + first, a.largest_of_one = sums.largest + call.a.size();
    const int threads = 32 * ((a.n + warp_columns - 1) / warp_columns), rounds = (a.cells.count + 31) / 32;
    with_stored(call.precision, call.a[0].data, [&]<class Stored>(const Stored*) {
      const int blocks = blocks_of(projection_kernel<Stored>, threads, rounds);
      projection_kernel<Stored><<<blocks, threads>>>(a);
    });
    STAGHORN_CUDA_CHECK_LAUNCH(projection_kernel);
  }
  collect(call, call.a.size());
}

void gram(const ProductCall& call) {
  if (call.b.size() == 1) return project(call);
  GramArguments a = {};
  a.shape = GramShape::of(int(call.a.size()), int(call.b.size()), call.b.empty());
  const std::size_t pairs = std::size_t(a.shape.n) * std::size_t(a.shape.m);
  const ProductScratch sums = empty_scratch(call, pairs);
  append(a.columns, 0, call.a);
  append(a.columns, a.shape.n, call.b);
  a.cells = cells_of(call);
  a.re = sums.re, a.im = sums.im, a.largest = sums.largest;
  const bool tensor_cores = tensor_cores_make_chains();
  with_stored(call.precision, call.a[0].data, [&]<class Stored>(const Stored*) {
    tensor_cores ? launch_gram<Stored, ChainBy::tensor_cores>(a) : launch_gram<Stored, ChainBy::shuffles>(a);
  });
  STAGHORN_CUDA_CHECK_LAUNCH(gram_kernel);
  collect(call, pairs);
}

}  // namespace

}  // namespace staghorn::cuda

namespace staghorn {

extern const VectorKernels cuda_vector_kernels;
const VectorKernels cuda_vector_kernels = {std::int64_t(cuda::scratch_bytes), cuda::dot, cuda::gram, cuda::combine,
                                           cuda::update_shifted};

}  // namespace staghorn
