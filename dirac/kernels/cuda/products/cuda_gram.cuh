// The Gram matrix of up to 32 + 32 columns. Each vector is read once.
//
// A block takes `width` cells at a time, a panel. Half of its warps fetch: thread k owns column k / width of cell
// k % width; it holds the vectors of the next panel in registers, widens and scales them into shared memory once a
// place is free there, and computes the norm. The other warps multiply: each owns one block of 16 x 8 pairs, a job, for
// some of the cells of every panel. The 24 terms of a cell are chains of fma in that order (cuda_fma_chains.cuh).
#pragma once

#include "dirac/fields/cuda_words.cuh"
#include "dirac/kernels/cuda/products/cuda_cell_sums.cuh"
#include "dirac/kernels/cuda/products/cuda_fma_chains.cuh"

namespace staghorn::cuda {

constexpr int job_rows = 16, job_columns = 8;  // columns of a and of b in a job
constexpr int gram_fetchers = 256;             // threads of a block that fetch
constexpr int gram_multipliers = 8;            // warps that multiply
constexpr int gram_threads = gram_fetchers + 32 * gram_multipliers;
constexpr int gram_ahead = 6;    // vectors of a thread that are on their way: more would not fit the registers
constexpr int gram_cells = 16;   // of a panel, at most
constexpr int gram_buffers = 4;  // panels in shared memory, at most
constexpr int cell_terms = 3 * SiteCells::sites;

// How a Gram matrix is laid out in a block.
struct GramShape {
  int n, m;        // columns of a and b; m = n and b is a where `hermitian`
  bool hermitian;  // only pairs i < j and norms are wanted
  int columns;     // that are read: a, then b
  int pitch;       // doubles from the real parts of one term to the imaginary ones, and on to the next term
  int jobs, warps_of_job;
  int width, buffers;  // the most; fit_into_shared_memory lowers them
  int cell_places;     // doubles of a cell

  // Lanes of half a warp read four terms of four columns at a time: a pitch of 2 or 6 modulo 8 puts them into sixteen
  // different banks of 8 bytes. Jobs at the rim read columns beyond the last; what they read is of no use. An even
  // width reads whole sectors of memory.
  __host__ __device__ static GramShape of(int n, int m, bool hermitian) {
    GramShape s = {n, hermitian ? n : m, hermitian, hermitian ? n : n + m, 0, 0, 0, 0, gram_buffers, 0};
    const int rows = (n + job_rows - 1) / job_rows, right = (s.m + job_columns - 1) / job_columns;
    for (int j = 0; j < right; ++j) s.jobs += s.rows_of(j, rows);
    const int read_a = rows * job_rows, read_b = (hermitian ? 0 : n) + right * job_columns;
    s.pitch = read_a > read_b ? read_a : read_b;
    while (s.pitch % 4 != 2) ++s.pitch;
    s.warps_of_job = gram_multipliers / s.jobs;
    int width = gram_cells;
    while (width > 1 && width * s.columns > gram_fetchers) width = narrower(width);
    s.set_width(width);
    return s;
  }
  // How many jobs take the columns 8 j to 8 j + 7 of b, of `rows` that all do where every pair is wanted.
  __host__ __device__ int rows_of(int j, int rows) const {
    return hermitian ? (job_columns * j + job_columns - 1) / job_rows + 1 : rows;
  }
  __host__ __device__ static int narrower(int width) { return width > 2 ? width - 2 : 1; }
  // Threads of half a warp write the same term of neighbouring cells into different banks.
  __host__ __device__ void set_width(int cells) {
    width = cells;
    cell_places = 2 * cell_terms * pitch + 16 / width;
  }
  __host__ __device__ int panel_places() const { return width * cell_places; }
  std::size_t shared_bytes() const {
    const std::size_t panels = sizeof(double) * std::size_t(buffers) * std::size_t(panel_places());
    const std::size_t shares = max_columns * max_columns * sizeof(CellShare);
    return panels > shares ? panels : shares;
  }
};

struct GramArguments {
  ColumnList columns;  // a, then b
  DeviceCells cells;
  GramShape shape;
  CellTotal *re, *im;           // [i][j]
  unsigned long long* largest;  // of each column
};

// A vector as it comes from memory.
template <class Stored>
struct FetchedVector {
  std::conditional_t<is_fixed_point<Stored>, int4, StoredVector<Stored>> words;

  __device__ __forceinline__ void load(const Stored* field, unsigned V, unsigned slot) {
    if constexpr (is_fixed_point<Stored>)
      words = load_word<Caching::streaming>(reinterpret_cast<const int4*>(field) + slot);
    else
      load_object<6, Caching::streaming>(field, V, slot, words.real);
  }
  // The same bits as load_vector.
  __device__ __forceinline__ StoredVector<Arithmetic<Stored>> numbers() const {
    if constexpr (is_fixed_point<Stored>) {
      StoredVector<Arithmetic<Stored>> v;
      spread(words.x, v.real);
      spread(words.y, v.real + 2);
      spread(words.z, v.real + 4);
#pragma unroll
      for (int k = 0; k < 6; ++k) v.real[k] *= __int_as_float(words.w);
      return v;
    } else {
      return words;
    }
  }
};

// Panels pass between the two kinds of warps by the barriers of a block: one says that panel `buffer` is full, one that
// it is free. Who gives a panel arrives, who takes it waits; both make their memory accesses before visible.
__device__ __forceinline__ void arrive(int barrier) {
  asm volatile("barrier.cta.arrive %0, %1;" ::"r"(barrier), "n"(gram_threads) : "memory");
}
__device__ __forceinline__ void wait_for(int barrier) {
  asm volatile("barrier.cta.sync %0, %1;" ::"r"(barrier), "n"(gram_threads) : "memory");
}
__device__ __forceinline__ int full(int buffer) { return 1 + 2 * buffer; }
__device__ __forceinline__ int free_again(int buffer) { return 2 + 2 * buffer; }

// What a thread that fetches knows of its column.
struct FetchedColumn {
  unsigned long long largest = 0;  // norm2 of a cell, by norm_bits
  CellLimbs norm_sum;
};

template <class Stored>
__device__ __forceinline__ FetchedColumn fetch_panels(const GramArguments& a, double* panels, int rounds) {
  const GramShape& shape = a.shape;
  const DeviceCells& cells = a.cells;
  const int cell_of_panel = int(threadIdx.x) % shape.width, column = int(threadIdx.x) / shape.width;
  const bool fetches = column < shape.columns;
  const Stored* const field = static_cast<const Stored*>(a.columns.data[fetches ? column : 0]);
  const double column_scale = a.columns.scale[fetches ? column : 0];
  const int place = cell_of_panel * shape.cell_places + column;
  const unsigned lanes = __ballot_sync(~0u, fetches);

  // Cells beyond the last are read from the first, and count as zero.
  const auto is_there = [&](int round) { return fetches && round * shape.width + cell_of_panel < cells.count; };
  const auto first_slot = [&](int round) {
    return is_there(round) ? cells.first[round * shape.width + cell_of_panel] : 0;
  };
  FetchedColumn mine;
  FetchedVector<Stored> vectors[SiteCells::sites];
  const auto load = [&](int site, int first) {
    vectors[site].load(field, cells.V, unsigned(first + cells.offset[site]));
  };
  int round = int(blockIdx.x);
  int first = first_slot(round), next = first_slot(round + int(gridDim.x));
  if (fetches)
#pragma unroll
    for (int site = 0; site < gram_ahead; ++site) load(site, first);
  for (int buffer = 0, turn = 0; round < rounds; round += int(gridDim.x), ++turn) {
    const double scale = is_there(round) ? column_scale : 0;
    const int after_next = first_slot(round + 2 * int(gridDim.x));
    if (turn >= shape.buffers) wait_for(free_again(buffer));
    if (fetches) {
      double* const to = panels + buffer * shape.panel_places() + place;
      CellNorm<double> norm{};
#pragma unroll
      for (int site = 0; site < SiteCells::sites; ++site) {
        const StoredVector<Arithmetic<Stored>> v = vectors[site].numbers();
#pragma unroll
        for (int c = 0; c < 3; ++c) {
          const double re = double(v.real[2 * c]) * scale, im = double(v.real[2 * c + 1]) * scale;
          double* const term = to + 2 * (3 * site + c) * shape.pitch;
          term[0] = re;
          term[shape.pitch] = im;
          norm.add(re, im);
        }
        // The compiler would gather these loads, and memory would rest between them: the barrier keeps them apart.
        __syncwarp(lanes);
        const bool of_this_panel = site + gram_ahead < SiteCells::sites;
        load((site + gram_ahead) % SiteCells::sites, of_this_panel ? first : next);
      }
      const double norm2 = norm.value();
      mine.largest = max(mine.largest, norm_bits(norm2));
      mine.norm_sum.add(norm2);
    }
    arrive(full(buffer));
    first = next;
    next = after_next;
    buffer = buffer + 1 == shape.buffers ? 0 : buffer + 1;
  }
  return mine;
}

// Where a job lies. Of a hermitian matrix the pairs on and above the diagonal are wanted. A job whose columns are among
// its rows needs no numbers but theirs: on the diagonal the upper eight rows are those columns, and the lower eight are
// not wanted; beside it the lower eight rows are those columns.
enum class JobPlace { anywhere, on_diagonal, beside_diagonal };

// The job of a warp: rows first_i + [0, 16) and columns first_j + [0, 8), of which a lane holds four pairs.
struct GramJob {
  int first_i, first_j;
  JobPlace place = JobPlace::anywhere;
  CellLimbs re[4], im[4];

  __device__ __forceinline__ GramJob(const GramShape& shape, int job) {
    const int rows = (shape.n + job_rows - 1) / job_rows;
    int j = 0;
    for (; job >= shape.rows_of(j, rows); ++j) job -= shape.rows_of(j, rows);
    first_i = job_rows * job;
    first_j = job_columns * j;
    if (!shape.hermitian) return;
    if (first_j == first_i) place = JobPlace::on_diagonal;
    if (first_j == first_i + job_columns) place = JobPlace::beside_diagonal;
  }
};

// Warps w and w + 4 share a quarter of the multiprocessor, and get unlike jobs: those on the diagonal are shorter.
__device__ __forceinline__ int job_of(const GramShape& shape, int warp) {
  return (warp + (4 % shape.jobs == 0 ? warp / 4 : 0)) % shape.jobs;
}

template <ChainBy chain, JobPlace place>
__device__ __forceinline__ void multiply_panels(const GramArguments& a, const double* panels, int rounds, int warp,
                                                GramJob& job) {
  constexpr int row_halves = place == JobPlace::on_diagonal ? 1 : 2, held = 2 * row_halves;
  const GramShape& shape = a.shape;
  const int g = int(threadIdx.x) % 32 / 4, t = int(threadIdx.x) % 4, pitch = shape.pitch;
  const int right_column = (shape.hermitian ? 0 : shape.n) + job.first_j;
  const int warps_of_job = shape.warps_of_job, first_cell = warp / shape.jobs;
  const int cells = first_cell < warps_of_job ? shape.width : 0;  // a warp too many multiplies nothing
  const int left_place = 2 * t * pitch + job.first_i + g, right_place = 2 * t * pitch + right_column + g;
  int buffer = 0;
  for (int round = int(blockIdx.x); round < rounds; round += int(gridDim.x)) {
    wait_for(full(buffer));
    for (int cell = first_cell; cell < cells; cell += warps_of_job) {
      const double* const numbers = panels + buffer * shape.panel_places() + cell * shape.cell_places;
      double rr[held] = {}, ii[held] = {}, mixed[held] = {};
#pragma unroll
      for (int step = 0; step < cell_terms / 8; ++step) {
        double a_re[held], a_im[held], a_sum[held], b_re[2], b_im[2], b_difference[2];
#pragma unroll
        for (int k = 0; k < held; ++k) {
          const int term = 8 * step + k / row_halves * 4, row = k % row_halves * 8;
          const double* const v = numbers + left_place + 2 * term * pitch + row;
          a_re[k] = v[0], a_im[k] = v[pitch], a_sum[k] = a_re[k] + a_im[k];
        }
#pragma unroll
        for (int k = 0; k < 2; ++k) {
          if constexpr (place == JobPlace::anywhere) {
            const double* const v = numbers + right_place + 2 * (8 * step + 4 * k) * pitch;
            b_re[k] = v[0], b_im[k] = v[pitch];
          } else {  // the last half of the rows
            b_re[k] = a_re[row_halves * k + row_halves - 1], b_im[k] = a_im[row_halves * k + row_halves - 1];
          }
          b_difference[k] = b_re[k] - b_im[k];
        }
        add_products<chain>(rr, a_re, b_re);
        add_products<chain>(ii, a_im, b_im);
        add_products<chain>(mixed, a_sum, b_difference);
      }
#pragma unroll
      for (int pair = 0; pair < held; ++pair) {
        const Complex<double> value = CellProduct<double>{rr[pair], ii[pair], mixed[pair]}.value();
        job.re[pair].add(value.re);
        job.im[pair].add(value.im);
      }
    }
    if (round + shape.buffers * int(gridDim.x) < rounds) arrive(free_again(buffer));
    buffer = buffer + 1 == shape.buffers ? 0 : buffer + 1;
  }
}

template <class Stored, ChainBy chain>
__global__ void __launch_bounds__(gram_threads, 1) gram_kernel(const __grid_constant__ GramArguments a) {
  extern __shared__ double panels[];  // [buffer][cell][term][re, im][column]
  const GramShape& shape = a.shape;
  const int thread = int(threadIdx.x), warp = (thread - gram_fetchers) / 32;
  const int rounds = (a.cells.count + shape.width - 1) / shape.width;
  const bool fetcher = thread < gram_fetchers;
  FetchedColumn mine;
  GramJob job(shape, fetcher ? 0 : job_of(shape, warp));
  if (fetcher)
    mine = fetch_panels<Stored>(a, panels, rounds);
  else if (job.place == JobPlace::on_diagonal)
    multiply_panels<chain, JobPlace::on_diagonal>(a, panels, rounds, warp, job);
  else if (job.place == JobPlace::beside_diagonal)
    multiply_panels<chain, JobPlace::beside_diagonal>(a, panels, rounds, warp, job);
  else
    multiply_panels<chain, JobPlace::anywhere>(a, panels, rounds, warp, job);

  // Limbs of what does not fit mean nothing, and the caller does not read them.
  const int my_column = thread / shape.width;
  const bool fetched = fetcher && my_column < shape.columns;
  if (fetched && mine.largest > a.largest[my_column]) atomicMax(a.largest + my_column, mine.largest);
  const bool all_fit = !__syncthreads_or(fetched && !fits(mine.largest));
  if (!all_fit) return;
  CellShare* const shares = reinterpret_cast<CellShare*>(panels);  // [i][j]
  const int g = thread % 32 / 4, t = thread % 4, pairs = shape.n * shape.m;
#pragma unroll
  for (int part = 0; part < 2; ++part) {  // real, imaginary
    for (int p = thread; p < pairs; p += gram_threads) shares[p] = {0, 0};
    __syncthreads();
#pragma unroll
    for (int pair = 0; pair < 4; ++pair) {
      const int i = job.first_i + g + pair / 2 * 8, j = job.first_j + 2 * t + pair % 2;
      if (!fetcher && i < shape.n && j < shape.m && (!shape.hermitian || i < j))
        add_to_share(shares[i * shape.m + j], part == 0 ? job.re[pair] : job.im[pair]);
    }
    if (shape.hermitian && fetched && part == 0) add_to_share(shares[my_column * shape.m + my_column], mine.norm_sum);
    __syncthreads();
    for (int p = thread; p < pairs; p += gram_threads) add_share((part == 0 ? a.re : a.im)[p], shares[p]);
    __syncthreads();
  }
}

}  // namespace staghorn::cuda
