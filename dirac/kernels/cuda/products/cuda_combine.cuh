// Linear combinations of many columns: y_j = sum_i x_i c_ij. i ascends, each number is a chain of fma, and the bits are
// those of the CPU.
#pragma once

#include <cuda_pipeline_primitives.h>

#include "dirac/fields/cuda_words.cuh"
#include "dirac/kernels/cuda/products/cuda_fma_chains.cuh"
#include "dirac/kernels/vector_kernels.hpp"

namespace staghorn::cuda {

constexpr int combine_threads = 128;

// In tensor cores x is taken in steps of four columns and y in tiles of eight.
constexpr int step_columns = 4, tile_columns = 8;
constexpr int max_targets = max_columns + max_grown;

// Columns of y from first_grown on are added to, with x from first_x_of_grown on. In tensor cores columns without a
// field fill the step and the tile before these; elsewhere all columns grow or none does.
struct CombineArguments {
  const void* x[max_combined + step_columns];
  void* y[max_targets + tile_columns];
  const Complex<double>* coefficients;
  int n, m;
  int first_grown, first_x_of_grown;
  unsigned V;
};

// The coefficients of the columns [first, first + Columns) of y in the arithmetic of the fields, in shared memory; 0
// where there is no column.
template <int Columns, class Real>
__device__ __forceinline__ void read_coefficients(const CombineArguments& a, int first,
                                                  Complex<Real> (*shared)[Columns]) {
  for (int k = int(threadIdx.x); k < a.n * Columns; k += combine_threads) {
    const int i = k / Columns, j = first + k % Columns;
    const Complex<double> c = j < a.m ? a.coefficients[i * a.m + j] : Complex<double>{0, 0};
    shared[i][k % Columns] = {Real(c.re), Real(c.im)};
  }
  __syncthreads();
}

// fp64 and fp32: fields are 3 V complex numbers in one order for all. A thread computes one number of `Columns`
// columns, blockIdx.y counts those. Columns that are not there are computed, too: with a question between them the
// compiler would load coefficients one after the other.
template <class Real, int Columns>
__global__ void __launch_bounds__(combine_threads) combine_kernel(const __grid_constant__ CombineArguments a) {
  __shared__ Complex<Real> coefficients[max_combined][Columns];
  const int first = int(blockIdx.y) * Columns, count = min(Columns, a.m - first);
  read_coefficients(a, first, coefficients);
  const std::size_t k = blockIdx.x * std::size_t(combine_threads) + threadIdx.x;
  if (k >= 3 * std::size_t(a.V)) return;
  using Word = std::conditional_t<sizeof(Real) == 8, double2, float2>;
  Complex<Real> y[Columns];
#pragma unroll
  for (int j = 0; j < Columns; ++j) {
    y[j] = {0, 0};
    if (a.first_grown == 0 && j < count) {
      const Word word = static_cast<const Word*>(a.y[first + j])[k];
      y[j] = {word.x, word.y};
    }
  }
#pragma unroll 4
  for (int i = 0; i < a.n; ++i) {
    const Word word = __ldcs(static_cast<const Word*>(a.x[i]) + k);
    const Complex<Real> x = {word.x, word.y};
#pragma unroll
    for (int j = 0; j < Columns; ++j) y[j] = multiply_add(coefficients[i][j], x, y[j]);
  }
#pragma unroll
  for (int j = 0; j < Columns; ++j)
    if (j < count) __stcs(static_cast<Word*>(a.y[first + j]) + k, Word{y[j].re, y[j].im});
}

// fp16: a thread computes the vectors of one site, whose numbers share a unit.
template <int Columns>
__global__ void __launch_bounds__(combine_threads) combine_fixed_kernel(const __grid_constant__ CombineArguments a) {
  __shared__ Complex<float> coefficients[max_combined][Columns];
  const int first = int(blockIdx.y) * Columns, count = min(Columns, a.m - first);
  read_coefficients(a, first, coefficients);
  const unsigned lane = blockIdx.x * combine_threads + threadIdx.x;
  if (lane >= a.V) return;
  float y[Columns][6];
#pragma unroll
  for (int j = 0; j < Columns; ++j) {
#pragma unroll
    for (int k = 0; k < 6; ++k) y[j][k] = 0;
    if (a.first_grown == 0 && j < count)
      load_vector<Caching::plain>(static_cast<const std::int16_t*>(a.y[first + j]), a.V, lane, y[j]);
  }
#pragma unroll 2
  for (int i = 0; i < a.n; ++i) {
    float x[6];
    load_vector<Caching::streaming>(static_cast<const std::int16_t*>(a.x[i]), a.V, lane, x);
#pragma unroll
    for (int j = 0; j < Columns; ++j)
      if (j < count)
#pragma unroll
        for (int c = 0; c < 3; ++c) {
          const Complex<float> sum = multiply_add(coefficients[i][j], Complex<float>{x[2 * c], x[2 * c + 1]},
                                                  Complex<float>{y[j][2 * c], y[j][2 * c + 1]});
          y[j][2 * c] = sum.re, y[j][2 * c + 1] = sum.im;
        }
  }
#pragma unroll
  for (int j = 0; j < Columns; ++j)
    if (j < count) store_vector<Caching::streaming>(static_cast<std::int16_t*>(a.y[first + j]), a.V, lane, y[j]);
}

// fp64 in tensor cores. A warp computes 16 numbers of `Tiles` tiles, of which some may grow; blockIdx.y counts those. A
// number is two chains of real products,
//   re: x_re c_re, x_im (-c_im), ...      im: x_im c_re, x_re c_im, ...,
// so both are products of matrices whose index k runs over columns i and over the two parts of x_i. Numbers come into
// shared memory some steps ahead. A warp writes its numbers when it has read them in all columns, so columns y that
// stand among x lie within one block's tiles.
constexpr int tensor_rows = 16;
constexpr int tensor_pitch = tensor_rows + 2;  // from a column to the next: a quarter of a warp reads from all banks

template <int Tiles>
struct TensorBlock {
  // Six tiles have so many factors that one large block shares them.
  static constexpr int warps = Tiles > 4 ? 8 : 4, per_processor = Tiles > 4 ? 1 : Tiles > 2 ? 3 : 4;
  static constexpr int stages = Tiles > 4 ? 6 : 3;
  // The most steps: of columns x that may stand beside so many of y.
  static constexpr int most_columns = Tiles > 4 ? max_targets : Tiles > 2 ? max_columns : max_combined + step_columns;
  static constexpr int steps = most_columns / step_columns;
  static constexpr int threads = 32 * warps, rows = tensor_rows * warps;

  // The factors b of each lane, in the order in which it needs them: [step][tile][re, im][k = t, t + 4][lane].
  double factors[steps][Tiles][2][2][32];
  double2 panels[warps][stages][step_columns][tensor_pitch];
};

template <int Tiles>
__global__ void __launch_bounds__(TensorBlock<Tiles>::threads, TensorBlock<Tiles>::per_processor)
    combine_tensor_kernel(const __grid_constant__ CombineArguments a) {
  using Block = TensorBlock<Tiles>;
  extern __shared__ double2 shared_memory[];
  Block& shared = *reinterpret_cast<Block*>(shared_memory);
  const int first = int(blockIdx.y) * tile_columns * Tiles, steps = (a.n + step_columns - 1) / step_columns;
  for (int f = int(threadIdx.x); f < steps * Tiles * 128; f += Block::threads) {
    const int lane = f % 32, half = f / 32 % 2, part = f / 64 % 2, tile = f / 128 % Tiles, step = f / 128 / Tiles;
    const int k = lane % 4 + 4 * half, i = step_columns * step + k / 2, j = first + tile_columns * tile + lane / 4;
    double factor = -0.0;  // times 0: adding this changes no number, not even -0
    if (i < a.n && a.x[i] && j < a.m) {
      const Complex<double> c = a.coefficients[i * a.m + j];
      factor = k % 2 == 0 ? c.re : part == 0 ? -c.im : c.im;
    }
    shared.factors[step][tile][part][half][lane] = factor;
  }
  __syncthreads();

  const int lane = int(threadIdx.x) % 32, g = lane / 4, t = lane % 4;
  auto& panel = shared.panels[threadIdx.x / 32];
  const std::size_t numbers = 3 * std::size_t(a.V), stride = gridDim.x * std::size_t(Block::rows);
  const std::size_t begin = blockIdx.x * std::size_t(Block::rows) + threadIdx.x / 32 * tensor_rows;

  // The next step that is fetched.
  std::size_t ahead = begin;
  int ahead_step = 0, ahead_stage = 0;
  const auto fetch = [&] {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int column = 2 * half + lane / tensor_rows, row = lane % tensor_rows,
                i = step_columns * ahead_step + column;
      double2* const to = &panel[ahead_stage][column][row];
      if (i < a.n && a.x[i] && ahead + unsigned(row) < numbers)
        __pipeline_memcpy_async(to, static_cast<const double2*>(a.x[i]) + ahead + row, sizeof(double2));
      else
        *to = {0, 0};
    }
    __pipeline_commit();
    if (++ahead_step == steps) ahead_step = 0, ahead += stride;
    ahead_stage = (ahead_stage + 1) % Block::stages;
  };
  for (int stage = 0; stage + 1 < Block::stages; ++stage) fetch();

  int stage = 0;
  for (std::size_t start = begin; start < numbers; start += stride) {
    // The sums of numbers start + 8 (k / 2) + g, columns first + 8 tile + 2t + k % 2.
    double y[Tiles][2][4] = {};
    const auto for_sums = [&](int from, auto&& work) {
#pragma unroll
      for (int tile = 0; tile < Tiles; ++tile)
#pragma unroll
        for (int k = 0; k < 4; ++k) {
          const std::size_t number = start + unsigned(k / 2 * 8 + g);
          const int j = first + tile_columns * tile + 2 * t + k % 2;
          if (number < numbers && j >= from && j < a.m && a.y[j])
            work(static_cast<double2*>(a.y[j])[number], y[tile][0][k], y[tile][1][k]);
        }
    };
    for_sums(a.first_grown, [](const double2& word, double& re, double& im) { re = word.x, im = word.y; });
    for (int step = 0; step < steps; ++step) {
      __pipeline_wait_prior(Block::stages - 2);
      __syncwarp();  // all lanes have left the stage that is fetched into
      fetch();
      // Lane (g, t) needs one part of the numbers g and g + 8 of columns t / 2 and t / 2 + 2, in both orders of parts.
      double re[4], im[4];
#pragma unroll
      for (int k = 0; k < 4; ++k) {
        const double2 x = panel[stage][k / 2 * 2 + t / 2][k % 2 * 8 + g];
        re[k] = t % 2 == 0 ? x.x : x.y;
        im[k] = t % 2 == 0 ? x.y : x.x;
      }
#pragma unroll
      for (int tile = 0; tile < Tiles; ++tile) {
        if (first + tile_columns * tile >= (step_columns * step < a.first_x_of_grown ? a.first_grown : a.m)) break;
        const auto& factor = shared.factors[step][tile];
        add_products<ChainBy::tensor_cores>(y[tile][0], re, {factor[0][0][lane], factor[0][1][lane]});
        add_products<ChainBy::tensor_cores>(y[tile][1], im, {factor[1][0][lane], factor[1][1][lane]});
      }
      stage = (stage + 1) % Block::stages;
    }
    for_sums(0, [](double2& word, double re, double im) { __stcs(&word, double2{re, im}); });
  }
  __pipeline_wait_prior(0);
}

}  // namespace staghorn::cuda
