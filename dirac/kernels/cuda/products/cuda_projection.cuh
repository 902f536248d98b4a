// Products of many columns with one vector: what projections onto eigenvectors and orthogonalisation ask for. Each
// column is read once, by the bits of the Gram matrix.
//
// Lane l of a warp takes one cell after the other, of a few columns. The warps of a block take the same cells, so the
// vector that all columns share comes from memory once.
#pragma once

#include "dirac/fields/cuda_words.cuh"
#include "dirac/kernels/cuda/products/cuda_cell_sums.cuh"

namespace staghorn::cuda {

constexpr int warp_columns = 2;
constexpr int projection_threads = 32 * max_columns / warp_columns;  // of a block, at most

struct ProjectionArguments {
  ColumnList columns;  // at most max_columns of a, then the one of b
  DeviceCells cells;
  int n;                                         // columns of a
  CellTotal *re, *im;                            // of each column of a
  unsigned long long *largest, *largest_of_one;  // of each column of a, and of b
};

// Numbers that come as float or int16 need no scale before they are multiplied: a power of two on their products gives
// the same bits, for no product of theirs leaves the range of double.
template <class Stored>
constexpr bool scaled_at_the_end = sizeof(Stored) < 8;

template <class Stored>
__global__ void __launch_bounds__(projection_threads, 1)
    projection_kernel(const __grid_constant__ ProjectionArguments a) {
  constexpr bool later = scaled_at_the_end<Stored>;
  const DeviceCells& cells = a.cells;
  const int lane = int(threadIdx.x) % 32, first_column = int(threadIdx.x) / 32 * warp_columns;
  const Stored* field[warp_columns];
  double scale[warp_columns];
#pragma unroll
  for (int i = 0; i < warp_columns; ++i) {  // columns beyond the last repeat it, and are not kept
    const int column = min(first_column + i, a.n - 1);
    field[i] = static_cast<const Stored*>(a.columns.data[column]);
    scale[i] = a.columns.scale[column];
  }
  const Stored* const one = static_cast<const Stored*>(a.columns.data[a.n]);
  const double scale_of_one = a.columns.scale[a.n];

  CellLimbs re[warp_columns], im[warp_columns];
  unsigned long long largest[warp_columns] = {}, largest_of_one = 0;
  const int step = 32 * int(gridDim.x);
  int cell = 32 * int(blockIdx.x) + lane;
  int first = cell < cells.count ? cells.first[cell] : 0;
  while (cell < cells.count) {
    const int next_first = cell + step < cells.count ? cells.first[cell + step] : 0;
    CellProduct<double> product[warp_columns] = {};
    CellNorm<double> norm[warp_columns] = {}, norm_of_one{};
#pragma unroll 2
    for (int site = 0; site < SiteCells::sites; ++site) {
      const unsigned slot = unsigned(first + cells.offset[site]);
      Arithmetic<Stored> v[warp_columns][6], u[6];
#pragma unroll
      for (int i = 0; i < warp_columns; ++i) load_vector<Caching::streaming>(field[i], cells.V, slot, v[i]);
      load_vector<Caching::plain>(one, cells.V, slot, u);
#pragma unroll
      for (int c = 0; c < 3; ++c) {
        const double s = later ? 1 : scale_of_one;
        const double b_re = double(u[2 * c]) * s, b_im = double(u[2 * c + 1]) * s;
        norm_of_one.add(b_re, b_im);
#pragma unroll
        for (int i = 0; i < warp_columns; ++i) {
          const double s_i = later ? 1 : scale[i];
          const double a_re = double(v[i][2 * c]) * s_i, a_im = double(v[i][2 * c + 1]) * s_i;
          norm[i].add(a_re, a_im);
          product[i].add({a_re, a_im, a_re + a_im}, {b_re, b_im, b_re - b_im});
        }
      }
    }
    const double later_one = later ? scale_of_one : 1;
    largest_of_one = max(largest_of_one, norm_bits(norm_of_one.value() * (later_one * later_one)));
#pragma unroll
    for (int i = 0; i < warp_columns; ++i) {
      const double later_i = later ? scale[i] : 1, both = later_i * later_one;
      largest[i] = max(largest[i], norm_bits(norm[i].value() * (later_i * later_i)));
      const Complex<double> value = product[i].value();
      re[i].add(value.re * both);
      im[i].add(value.im * both);
    }
    cell += step;
    first = next_first;
  }

  __shared__ CellShare share[2][max_columns];
  __shared__ unsigned long long largest_share[max_columns + 1];
  for (int i = int(threadIdx.x); i <= max_columns; i += int(blockDim.x)) {
    if (i < max_columns) share[0][i] = share[1][i] = {0, 0};
    largest_share[i] = 0;
  }
  __syncthreads();
  bool fit = fits(largest_of_one);
  raise_by_warp(largest_share[max_columns], largest_of_one);
#pragma unroll
  for (int i = 0; i < warp_columns; ++i) {
    fit = fit && fits(largest[i]);
    raise_by_warp(largest_share[first_column + i], largest[i]);
  }
  // Limbs of what does not fit mean nothing, and the caller does not read them.
  const bool all_fit = !__syncthreads_or(!fit);
#pragma unroll
  for (int i = 0; i < warp_columns; ++i) {
    add_warp_to_share(share[0][first_column + i], re[i]);
    add_warp_to_share(share[1][first_column + i], im[i]);
  }
  __syncthreads();
  for (int i = int(threadIdx.x); i < a.n; i += int(blockDim.x)) {
    atomicMax(a.largest + i, largest_share[i]);
    if (!all_fit) continue;
    add_share(a.re[i], share[0][i]);
    add_share(a.im[i], share[1][i]);
  }
  if (threadIdx.x == 0) atomicMax(a.largest_of_one, largest_share[max_columns]);
}

}  // namespace staghorn::cuda
