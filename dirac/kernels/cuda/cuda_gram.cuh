// The Gram matrix of up to 32 + 32 columns. Each vector is read once.
//
// A block takes `width` cells at a time. The vectors of all columns come into shared memory, while the cells before are
// multiplied: fp64 as they are, fp32 and fp16 to be widened there. Thread k of the block owns column k / width of cell
// k % width: it fetches, widens and scales the vectors, and computes the norm. A warp owns one block of 16 x 16 pairs,
// a job, for some of the cells. The 24 terms of a cell are chains of fma in that order (cuda_fma_chains.cuh).
#pragma once

#include <cuda_pipeline_primitives.h>

#include "dirac/fields/cuda_words.cuh"
#include "dirac/kernels/cuda/cuda_cell_sums.cuh"
#include "dirac/kernels/cuda/cuda_fma_chains.cuh"

namespace staghorn::cuda {

constexpr int job_columns = 16;        // columns of a and of b in a job
constexpr int gram_max_threads = 128;  // of a block
constexpr int gram_cells = 8;          // at a time, at most
constexpr int gram_buffers = 2;        // cells being multiplied, and cells on their way
constexpr int cell_terms = 3 * SiteCells::sites;

// How a Gram matrix is laid out in a block.
struct GramShape {
  int n, m;        // columns of a and b; m = n and b is a where `hermitian`
  bool hermitian;  // only pairs i < j and norms are wanted
  int columns;     // that are read: a, then b
  int pitch;       // places of 16 bytes from one term of a cell to the next in shared memory
  int jobs, threads, width;

  // Lanes of a warp read four terms of two columns at a time: a pitch of 2 or 6 modulo 8 puts them into eight different
  // banks of 16 bytes. Jobs at the rim read columns beyond the last; what they read is of no use.
  __host__ __device__ static GramShape of(int n, int m, bool hermitian) {
    GramShape s = {n, hermitian ? n : m, hermitian, hermitian ? n : n + m, 0, 0, 0, 0};
    const int groups = (n + job_columns - 1) / job_columns, groups_b = (s.m + job_columns - 1) / job_columns;
    s.jobs = hermitian ? groups * (groups + 1) / 2 : groups * groups_b;
    s.threads = s.jobs == 3 ? 96 : 128;  // as many warps for each job
    const int read_a = groups * job_columns, read_b = (hermitian ? 0 : n) + groups_b * job_columns;
    s.pitch = read_a > read_b ? read_a : read_b;
    while (s.pitch % 4 != 2) ++s.pitch;
    s.width = s.threads / s.columns < gram_cells ? s.threads / s.columns : gram_cells;
    return s;
  }
  // Threads that write the same term of neighbouring cells meet in no bank: the distance is odd.
  __host__ __device__ int cell_places() const { return cell_terms * pitch + 1; }
  __host__ __device__ int warps_of_job() const { return threads / 32 / jobs; }
  template <class Stored>
  __host__ __device__ std::size_t shared_bytes() const;
};

// Whether numbers come into shared memory as they are multiplied.
template <class Stored>
constexpr bool copied_as_is = sizeof(Stored) == 8;

template <class Stored>
std::size_t GramShape::shared_bytes() const {
  const std::size_t panel = sizeof(double2) * std::size_t(width) * std::size_t(cell_places());
  const std::size_t raw = std::size_t(threads) * SiteCells::sites * vector_places<Stored> * sizeof(Stored);
  const std::size_t shares = max_columns * max_columns * sizeof(CellShare);
  const std::size_t all = copied_as_is<Stored> ? gram_buffers * panel : panel + gram_buffers * raw;
  return all > shares ? all : shares;
}

struct GramArguments {
  ColumnList columns;  // a, then b
  DeviceCells cells;
  GramShape shape;
  CellTotal *re, *im;           // [i][j]
  unsigned long long* largest;  // of each column
};

// Copies the words of one vector between two fields, through the asynchronous copies.
template <class Stored>
__device__ __forceinline__ void copy_words(Stored* to, unsigned to_V, unsigned to_lane, const Stored* from, unsigned V,
                                           unsigned lane) {
  if constexpr (is_fixed_point<Stored>) {
    __pipeline_memcpy_async(reinterpret_cast<int4*>(to) + to_lane, reinterpret_cast<const int4*>(from) + lane, 16);
  } else {
    __pipeline_memcpy_async(reinterpret_cast<float4*>(to) + to_lane, reinterpret_cast<const float4*>(from) + lane, 16);
    __pipeline_memcpy_async(reinterpret_cast<float2*>(to + 4 * to_V) + to_lane,
                            reinterpret_cast<const float2*>(from + 4 * std::size_t(V)) + lane, 8);
  }
}

template <class Stored, ChainBy chain>
__global__ void __launch_bounds__(gram_max_threads, 2) gram_kernel(const __grid_constant__ GramArguments a) {
  extern __shared__ double2 gram_memory[];
  const GramShape& shape = a.shape;
  const int thread = int(threadIdx.x), width = shape.width, pitch = shape.pitch, cell_places = shape.cell_places();
  double2* const panels = gram_memory;  // [cell][term][column]; one, or one for each buffer
  Stored* const raw = reinterpret_cast<Stored*>(gram_memory + width * cell_places);  // [buffer][site], a lane a thread
  const int raw_site = vector_places<Stored> * shape.threads;

  // The column that this thread fetches.
  const int my_cell = thread % width, my_column = thread / width;
  const bool fetches = my_column < shape.columns;
  const Stored* const field = static_cast<const Stored*>(a.columns.data[fetches ? my_column : 0]);
  const double scale = a.columns.scale[fetches ? my_column : 0];
  const int my_place = my_cell * cell_places + my_column;
  unsigned long long largest = 0;
  CellSum<double> norm_sum{};

  // The job of this warp: rows first_i + [0, 16), columns first_j + [0, 16) in two tiles.
  const int warp = thread / 32, g = thread % 32 / 4, t = thread % 4, job = warp % shape.jobs;
  const int b_groups = (shape.m + job_columns - 1) / job_columns;
  const int first_i = job_columns * (shape.hermitian ? job / 2 : job / b_groups);
  const int first_j = job_columns * (shape.hermitian ? (job + 1) / 2 : job % b_groups);
  const int right_column = (shape.hermitian ? 0 : shape.n) + first_j;
  const bool two_tiles = first_j + job_columns / 2 < shape.m;
  CellSum<double> re[2][4] = {}, im[2][4] = {};

  const int rounds = (a.cells.count + width - 1) / width;
  const auto fetch = [&](int round, int buffer) {
    const int cell = round * width + my_cell;
    const bool there = fetches && round < rounds && cell < a.cells.count;
    const int first = there ? a.cells.first[cell] : 0;
#pragma unroll
    for (int site = 0; site < SiteCells::sites; ++site) {
      const unsigned slot = unsigned(first + a.cells.offset[site]);
      if constexpr (copied_as_is<Stored>) {
        double2* const to = panels + buffer * width * cell_places + my_place + 3 * site * pitch;
#pragma unroll
        for (int c = 0; c < 3; ++c)
          if (there)
            __pipeline_memcpy_async(to + c * pitch,
                                    reinterpret_cast<const double2*>(field) + std::size_t(c) * a.cells.V + slot, 16);
          else if (fetches)
            to[c * pitch] = double2{0, 0};
      } else {
        Stored* const to = raw + (buffer * SiteCells::sites + site) * raw_site;
        if (there) copy_words(to, unsigned(shape.threads), unsigned(thread), field, a.cells.V, slot);
      }
    }
    __pipeline_commit();
  };
  for (int buffer = 0; buffer < gram_buffers; ++buffer) fetch(int(blockIdx.x) + buffer * int(gridDim.x), buffer);

  int buffer = 0;
  for (int round = int(blockIdx.x); round < rounds; round += int(gridDim.x)) {
    const int ahead = round + gram_buffers * int(gridDim.x);
    double2* const panel = panels + (copied_as_is<Stored> ? buffer * width * cell_places : 0);

    // This thread's vectors have come: widen them, scale them, and add to the norm.
    __pipeline_wait_prior(gram_buffers - 1);
    if (fetches) {
      const bool there = round * width + my_cell < a.cells.count;
      CellNorm<double> norm{};
#pragma unroll
      for (int site = 0; site < SiteCells::sites; ++site) {
        double2* const numbers = panel + my_place + 3 * site * pitch;
        Arithmetic<Stored> v[6];
        if constexpr (!copied_as_is<Stored>)
          load_vector<Caching::plain>(raw + (buffer * SiteCells::sites + site) * raw_site, unsigned(shape.threads),
                                      unsigned(thread), v);
#pragma unroll
        for (int c = 0; c < 3; ++c) {
          double2 number;
          if constexpr (copied_as_is<Stored>) {
            number = numbers[c * pitch];
            number = {number.x * scale, number.y * scale};
            if (scale != 1) numbers[c * pitch] = number;
          } else {
            number = {double(v[2 * c]) * scale, double(v[2 * c + 1]) * scale};
            if (!there) number = {0, 0};
            numbers[c * pitch] = number;
          }
          norm.add(number.x, number.y);
        }
      }
      const double norm2 = norm.value();
      largest = max(largest, norm_bits(norm2));
      norm_sum.add(norm2);
    }
    if constexpr (!copied_as_is<Stored>) fetch(ahead, buffer);
    __syncthreads();

    for (int cell = warp / shape.jobs; cell < width; cell += shape.warps_of_job()) {
      const double2* const left = panel + cell * cell_places + t * pitch + first_i + g;
      const double2* const right = panel + cell * cell_places + t * pitch + right_column + g;
      double rr[2][4] = {}, ii[2][4] = {}, mixed[2][4] = {};
#pragma unroll
      for (int step = 0; step < cell_terms / 8; ++step) {
        double a_re[4], a_im[4], a_sum[4];
#pragma unroll
        for (int k = 0; k < 4; ++k) {
          const double2 v = left[(8 * step + k / 2 * 4) * pitch + k % 2 * 8];
          a_re[k] = v.x, a_im[k] = v.y, a_sum[k] = v.x + v.y;
        }
#pragma unroll
        for (int tile = 0; tile < 2; ++tile) {
          if (tile == 1 && !two_tiles) continue;
          double b_re[2], b_im[2], b_difference[2];
#pragma unroll
          for (int k = 0; k < 2; ++k) {
            const double2 v = right[(8 * step + 4 * k) * pitch + 8 * tile];
            b_re[k] = v.x, b_im[k] = v.y, b_difference[k] = v.x - v.y;
          }
          add_products<chain>(rr[tile], a_re, b_re);
          add_products<chain>(ii[tile], a_im, b_im);
          add_products<chain>(mixed[tile], a_sum, b_difference);
        }
      }
#pragma unroll
      for (int tile = 0; tile < 2; ++tile)
#pragma unroll
        for (int pair = 0; pair < 4; ++pair) {
          const Complex<double> value = CellProduct<double>{rr[tile][pair], ii[tile][pair], mixed[tile][pair]}.value();
          re[tile][pair].add(value.re);
          im[tile][pair].add(value.im);
        }
    }
    __syncthreads();
    if constexpr (copied_as_is<Stored>) fetch(ahead, buffer);
    buffer = (buffer + 1) % gram_buffers;
  }
  __pipeline_wait_prior(0);

  // Limbs of what does not fit mean nothing, and the caller does not read them.
  if (fetches && largest > a.largest[my_column]) atomicMax(a.largest + my_column, largest);
  const bool all_fit = !__syncthreads_or(fetches && !fits(largest));
  if (!all_fit) return;
  CellShare* const shares = reinterpret_cast<CellShare*>(gram_memory);  // [i][j]
  const int pairs = shape.n * shape.m;
#pragma unroll
  for (int part = 0; part < 2; ++part) {  // real, imaginary
    for (int p = thread; p < pairs; p += int(blockDim.x)) shares[p] = {0, 0};
    __syncthreads();
#pragma unroll
    for (int tile = 0; tile < 2; ++tile)
#pragma unroll
      for (int pair = 0; pair < 4; ++pair) {
        const int i = first_i + g + pair / 2 * 8, j = first_j + 8 * tile + 2 * t + pair % 2;
        if (i < shape.n && j < shape.m && (!shape.hermitian || i < j))
          add_to_share(shares[i * shape.m + j], part == 0 ? re[tile][pair] : im[tile][pair]);
      }
    if (shape.hermitian && fetches && part == 0) add_to_share(shares[my_column * shape.m + my_column], norm_sum);
    __syncthreads();
    for (int p = thread; p < pairs; p += int(blockDim.x)) add_share((part == 0 ? a.re : a.im)[p], shares[p]);
    __syncthreads();
  }
}

}  // namespace staghorn::cuda
