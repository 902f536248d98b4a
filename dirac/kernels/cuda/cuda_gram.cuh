// The Gram matrix of up to 32 + 32 columns. Each vector is read once.
//
// A block takes `width` cells at a time and walks through their 8 sites. For each site the vectors of all columns come
// into shared memory as doubles; there is room for several sites, so that loads run ahead. A thread owns one tile of
// 3 x 4 pairs of one cell, in fp32 and fp16 2 x 4: its chains and its limbs stay in registers. Besides, a thread owns
// one column of one cell: it fetches, widens and scales the vectors, and computes the norm.
#pragma once

#include <cuda_pipeline_primitives.h>

#include "dirac/fields/cuda_words.cuh"
#include "dirac/kernels/cuda/cuda_cell_sums.cuh"

namespace staghorn::cuda {

// A tile is as large as registers hold: its loads from shared memory take longer than its products.
template <class Stored>
constexpr int tile_rows = sizeof(Stored) == 8 ? 3 : 2;
constexpr int tile_columns = 4;
constexpr int gram_threads = 128;  // of a block, at most
constexpr int gram_stages = 4;     // sites in shared memory; a power of two
constexpr int gram_cells = 8;      // at a time, at most

struct GramArguments {
  ColumnList columns;  // a, then b
  DeviceCells cells;
  int n, m;  // columns of a and b; m = n and b is a where `hermitian`
  bool hermitian;
  int width, tiles;             // cells at a time, tiles of one cell
  CellTotal *re, *im;           // [i][j]
  unsigned long long* largest;  // of each column
};

// Tiles of one cell, panel by panel of four columns. Where `hermitian`, those with some i < j only.
template <class Stored>
__host__ __device__ int tiles_of_panel(int n, int panel, bool hermitian) {
  const int rows = hermitian && 4 * panel + 3 < n ? 4 * panel + 3 : n;
  return (rows + tile_rows<Stored> - 1) / tile_rows<Stored>;
}
template <class Stored>
int count_tiles(int n, int m, bool hermitian) {
  int tiles = 0;
  for (int panel = 0; panel * tile_columns < m; ++panel) tiles += tiles_of_panel<Stored>(n, panel, hermitian);
  return tiles;
}

// Whether numbers come into shared memory as they are stored, past the registers.
template <class Stored>
constexpr bool copied_as_is = sizeof(Stored) == 8;

template <class Stored>
__global__ void __launch_bounds__(gram_threads, 2) gram_kernel(const __grid_constant__ GramArguments a) {
  // [site][colour][cell][column], a column more for each cell: threads of neighbouring cells then meet in no bank.
  __shared__ double2 panel[gram_stages][3 * (gram_threads + gram_cells)];
  constexpr int rows = tile_rows<Stored>, tile_pairs = rows * tile_columns;
  const int columns = a.hermitian ? a.n : a.n + a.m, thread = int(threadIdx.x);
  const int pitch = columns | 1;  // of a cell, odd
  const auto place = [&](int stage, int color, int cell, int column) -> double2& {
    return panel[stage][(color * a.width + cell) * pitch + column];
  };

  // The column that this thread fetches.
  const int my_cell = thread % a.width, my_column = thread / a.width;
  const bool fetches = my_column < columns;
  const Stored* const field = static_cast<const Stored*>(a.columns.data[fetches ? my_column : 0]);
  const double scale = a.columns.scale[fetches ? my_column : 0];
  unsigned long long largest = 0;
  CellSum<double> norm_sum{};

  // The tile that this thread computes.
  const int tile_cell = thread / a.tiles;
  int tile = thread % a.tiles, first_j = 0;
  while (tile >= tiles_of_panel<Stored>(a.n, first_j / tile_columns, a.hermitian)) {
    tile -= tiles_of_panel<Stored>(a.n, first_j / tile_columns, a.hermitian);
    first_j += tile_columns;
  }
  const int first_i = tile * rows;
  const bool computes = tile_cell < a.width;
  const int left_column = first_i, right_column = (a.hermitian ? 0 : a.n) + first_j;
  const int last_left = a.n - 1 - left_column, last_right = columns - 1 - right_column;
  CellSum<double> re[tile_pairs] = {}, im[tile_pairs] = {};

  const int rounds = (a.cells.count + a.width - 1) / a.width;
  const auto first_slot = [&](int round) {
    const int cell = round * a.width + my_cell;
    return fetches && cell < a.cells.count ? a.cells.first[cell] : -1;
  };

  // Loads of doubles run ahead by gram_stages - 1 sites, through the asynchronous copies; others by one, in registers.
  int fetch_round = int(blockIdx.x), fetch_site = 0, fetch_slot = fetch_round < rounds ? first_slot(fetch_round) : -1;
  const auto next_fetch = [&] {
    if (++fetch_site < SiteCells::sites) return;
    fetch_site = 0;
    fetch_round += int(gridDim.x);
    fetch_slot = fetch_round < rounds ? first_slot(fetch_round) : -1;
  };
  Arithmetic<Stored> ahead[6];
  const auto fetch = [&](int stage) {
    const unsigned slot = unsigned(fetch_slot + a.cells.offset[fetch_site]);
    if constexpr (copied_as_is<Stored>) {
#pragma unroll
      for (int c = 0; c < 3; ++c)
        if (fetch_slot >= 0)
          __pipeline_memcpy_async(&place(stage, c, my_cell, my_column),
                                  reinterpret_cast<const double2*>(field) + std::size_t(c) * a.cells.V + slot, 16);
        else if (fetches)
          place(stage, c, my_cell, my_column) = double2{0, 0};
      __pipeline_commit();
    } else {
      if (fetch_slot >= 0)
        load_vector<Caching::streaming>(field, a.cells.V, slot, ahead);
      else
        for (int k = 0; k < 6; ++k) ahead[k] = 0;
    }
    next_fetch();
  };
  constexpr int stages_ahead = copied_as_is<Stored> ? gram_stages - 1 : 1;
  for (int stage = 0; stage < stages_ahead; ++stage) fetch(stage);

  int stage = 0;
  for (int round = int(blockIdx.x); round < rounds; round += int(gridDim.x)) {
    CellProduct<double> product[tile_pairs] = {};
    CellNorm<double> norm{};
#pragma unroll 1
    for (int site = 0; site < SiteCells::sites; ++site) {
      // This thread's vector of this site has come: scale it, and add to the norm.
      if constexpr (copied_as_is<Stored>) __pipeline_wait_prior(stages_ahead - 1);
      if (fetches)
#pragma unroll
        for (int c = 0; c < 3; ++c) {
          double2& number = place(stage, c, my_cell, my_column);
          double2 scaled;
          if constexpr (copied_as_is<Stored>)
            scaled = {number.x * scale, number.y * scale};
          else
            scaled = {double(ahead[2 * c]) * scale, double(ahead[2 * c + 1]) * scale};
          if (!copied_as_is<Stored> || scale != 1) number = scaled;
          norm.add(scaled.x, scaled.y);
        }
      __syncthreads();
      fetch((stage + stages_ahead) % gram_stages);
      if (computes) {
#pragma unroll
        for (int c = 0; c < 3; ++c) {
          LeftFactor<double> left[rows];
#pragma unroll
          for (int i = 0; i < rows; ++i) {
            const double2 v = place(stage, c, tile_cell, left_column + min(i, last_left));
            left[i] = {v.x, v.y, v.x + v.y};
          }
#pragma unroll
          for (int j = 0; j < tile_columns; ++j) {
            const double2 v = place(stage, c, tile_cell, right_column + min(j, last_right));
            const RightFactor<double> right = {v.x, v.y, v.x - v.y};
#pragma unroll
            for (int i = 0; i < rows; ++i) product[i * tile_columns + j].add(left[i], right);
          }
        }
      }
      stage = (stage + 1) % gram_stages;
    }
    const double norm2 = norm.value();
    largest = max(largest, norm_bits(norm2));
    norm_sum.add(norm2);
#pragma unroll
    for (int pair = 0; pair < tile_pairs; ++pair) {
      const Complex<double> value = product[pair].value();
      re[pair].add(value.re);
      im[pair].add(value.im);
    }
  }
  if constexpr (copied_as_is<Stored>) __pipeline_wait_prior(0);

  // Limbs of what does not fit mean nothing, and the caller does not read them.
  if (fetches && largest > a.largest[my_column]) atomicMax(a.largest + my_column, largest);
  const bool all_fit = !__syncthreads_or(fetches && !fits(largest));
  if (!all_fit) return;
  CellShare* const shares = reinterpret_cast<CellShare*>(panel);  // [i][j]
  static_assert(sizeof(panel) >= max_columns * max_columns * sizeof(CellShare));
  const int m = a.hermitian ? a.n : a.m, pairs = a.n * m;
#pragma unroll
  for (int part = 0; part < 2; ++part) {  // real, imaginary
    for (int p = thread; p < pairs; p += int(blockDim.x)) shares[p] = {0, 0};
    __syncthreads();
    if (computes)
#pragma unroll
      for (int i = 0; i < rows; ++i)
#pragma unroll
        for (int j = 0; j < tile_columns; ++j) {
          const int row = first_i + i, column = first_j + j, pair = i * tile_columns + j;
          if (row < a.n && column < m && (!a.hermitian || row < column))
            add_to_share(shares[row * m + column], part == 0 ? re[pair] : im[pair]);
        }
    if (a.hermitian && fetches && part == 0) add_to_share(shares[my_column * m + my_column], norm_sum);
    __syncthreads();
    for (int p = thread; p < pairs; p += int(blockDim.x)) add_share((part == 0 ? a.re : a.im)[p], shares[p]);
    __syncthreads();
  }
}

}  // namespace staghorn::cuda
