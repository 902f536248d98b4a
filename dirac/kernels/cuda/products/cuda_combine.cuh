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
// field fill the step and the tile before these. In combine_kernel and combine_fixed_kernel all columns grow or none
// does.
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

// Some columns of x of a warp's numbers, in shared memory. They come in steps of four columns, sixteen words of 16
// bytes of each, some steps ahead.
constexpr int step_words = 16;
constexpr int step_pitch = step_words + 2;  // from a column to the next: a quarter of a warp reads from all banks

template <class Word, int stages>
class FetchedSteps {
 public:
  using Step = Word[step_columns][step_pitch];

  // A warp's first word is `begin`, and its next one `stride` further.
  __device__ __forceinline__ FetchedSteps(const CombineArguments& arguments, Step (&memory)[stages],
                                          std::size_t words_of_column, std::size_t begin, std::size_t stride)
      : a_(arguments), memory_(memory), words_(words_of_column), ahead_(begin), stride_(stride) {
    for (int stage = 0; stage + 1 < stages; ++stage) fetch();
  }
  __device__ __forceinline__ ~FetchedSteps() { __pipeline_wait_prior(0); }

  // Of all lanes at once; valid until the next call.
  __device__ __forceinline__ const Step& next() {
    __pipeline_wait_prior(stages - 2);
    __syncwarp();  // all lanes have left the stage that is fetched into
    fetch();
    const Step& step = memory_[stage_];
    stage_ = (stage_ + 1) % stages;
    return step;
  }

 private:
  __device__ __forceinline__ void fetch() {
    const int lane = int(threadIdx.x) % 32, steps = (a_.n + step_columns - 1) / step_columns;
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int column = 2 * half + lane / step_words, word = lane % step_words,
                i = step_columns * ahead_step_ + column;
      Word* const to = &memory_[ahead_stage_][column][word];
      if (i < a_.n && a_.x[i] && ahead_ + unsigned(word) < words_)
        __pipeline_memcpy_async(to, static_cast<const Word*>(a_.x[i]) + ahead_ + word, sizeof(Word));
      else
        *to = {};
    }
    __pipeline_commit();
    if (++ahead_step_ == steps) ahead_step_ = 0, ahead_ += stride_;
    ahead_stage_ = (ahead_stage_ + 1) % stages;
  }

  const CombineArguments& a_;
  Step (&memory_)[stages];
  const std::size_t words_;
  std::size_t ahead_;  // the next step that is fetched
  const std::size_t stride_;
  int ahead_step_ = 0, ahead_stage_ = 0, stage_ = 0;
};

// fp32, up to Plain columns of y and Grown that are added to, in one pass. A word of x has two numbers. A lane computes
// those of one word in half of the columns of both kinds.
template <int Plain, int Grown>
struct AtOnceBlock {
  static constexpr int warps = 4, per_processor = 4, stages = 8;
  static constexpr int threads = 32 * warps, words = step_words * warps;
  static constexpr int of_lane = (Plain + Grown) / 2;

  float4* y[2][of_lane];  // [half of the columns]; null where there is none
  // [i][pair of columns of a lane][half of the columns]; both halves are read at once, from different banks
  alignas(16) Complex<float> coefficients[max_combined][of_lane / 2][2][2];
  typename FetchedSteps<float4, stages>::Step steps[warps][stages];
};

template <int Plain, int Grown>
__global__ void __launch_bounds__(AtOnceBlock<Plain, Grown>::threads, AtOnceBlock<Plain, Grown>::per_processor)
    combine_at_once_kernel(const __grid_constant__ CombineArguments a) {
  using Block = AtOnceBlock<Plain, Grown>;
  constexpr int of_lane = Block::of_lane, plain_of_lane = Plain / 2;
  extern __shared__ float4 at_once_memory[];
  Block& shared = *reinterpret_cast<Block*>(at_once_memory);
  // The column of y that is column k of a lane in this half, or -1.
  const auto column = [&](int half, int k) {
    const bool grows = k >= plain_of_lane;
    const int j = grows ? a.first_grown + half * (Grown / 2) + k - plain_of_lane : half * plain_of_lane + k;
    return j < (grows ? a.m : a.first_grown) ? j : -1;
  };
  if (threadIdx.x < 2 * of_lane) {
    const int j = column(int(threadIdx.x) / of_lane, int(threadIdx.x) % of_lane);
    shared.y[threadIdx.x / of_lane][threadIdx.x % of_lane] = j < 0 ? nullptr : static_cast<float4*>(a.y[j]);
  }
  for (int f = int(threadIdx.x); f < a.n * 2 * of_lane; f += Block::threads) {
    const int i = f / (2 * of_lane), k = f / 4 % (of_lane / 2) * 2 + f % 2, half = f / 2 % 2, j = column(half, k);
    const Complex<double> c = j < 0 ? Complex<double>{0, 0} : a.coefficients[i * a.m + j];
    shared.coefficients[i][k / 2][half][k % 2] = {float(c.re), float(c.im)};
  }
  __syncthreads();

  const int warp = int(threadIdx.x) / 32, half = int(threadIdx.x) % 32 / step_words,
            word = int(threadIdx.x) % step_words;
  const std::size_t words = 3 * std::size_t(a.V) / 2, stride = gridDim.x * std::size_t(Block::words);
  const std::size_t begin = (blockIdx.x * std::size_t(Block::warps) + warp) * step_words;
  FetchedSteps<float4, Block::stages> steps(a, shared.steps[warp], words, begin, stride);
  for (std::size_t start = begin; start < words; start += stride) {
    Complex<float> y[of_lane][2];
    const auto for_columns = [&](int from, auto&& work) {
      if (start + unsigned(word) >= words) return;
#pragma unroll
      for (int k = from; k < of_lane; ++k)
        if (float4* const field = shared.y[half][k]) work(field[start + word], y[k]);
    };
#pragma unroll
    for (int k = 0; k < of_lane; ++k) y[k][0] = y[k][1] = {0, 0};
    for_columns(plain_of_lane, [](const float4& from, Complex<float>(&to)[2]) {
      to[0] = {from.x, from.y}, to[1] = {from.z, from.w};
    });
    for (int first = 0; first < a.n; first += step_columns) {
      const auto& step = steps.next();
#pragma unroll
      for (int u = 0; u < step_columns; ++u) {
        const int i = first + u;
        if (i >= a.n) break;
        const float4 x = step[u][word];
        const auto add = [&](int from, int to) {
#pragma unroll
          for (int k = from; k < to; k += 2) {
            const float4 c = *reinterpret_cast<const float4*>(shared.coefficients[i][k / 2][half]);
            y[k][0] = multiply_add(Complex<float>{c.x, c.y}, Complex<float>{x.x, x.y}, y[k][0]);
            y[k][1] = multiply_add(Complex<float>{c.x, c.y}, Complex<float>{x.z, x.w}, y[k][1]);
            y[k + 1][0] = multiply_add(Complex<float>{c.z, c.w}, Complex<float>{x.x, x.y}, y[k + 1][0]);
            y[k + 1][1] = multiply_add(Complex<float>{c.z, c.w}, Complex<float>{x.z, x.w}, y[k + 1][1]);
          }
        };
        add(0, plain_of_lane);
        if (i >= a.first_x_of_grown) add(plain_of_lane, of_lane);
      }
    }
    for_columns(0, [](float4& to, const Complex<float>(&from)[2]) {
      __stcs(&to, float4{from[0].re, from[0].im, from[1].re, from[1].im});
    });
  }
}

// fp64 in tensor cores. A warp computes 16 numbers of `Tiles` tiles, of which some may grow; blockIdx.y counts those. A
// number is two chains of real products,
//   re: x_re c_re, x_im (-c_im), ...      im: x_im c_re, x_re c_im, ...,
// so both are products of matrices whose index k runs over columns i and over the two parts of x_i. Numbers come into
// shared memory some steps ahead. A warp writes its numbers when it has read them in all columns, so columns y that
// stand among x lie within one block's tiles.
constexpr int tensor_rows = step_words;

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
  typename FetchedSteps<double2, stages>::Step panels[warps][stages];
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
  const std::size_t numbers = 3 * std::size_t(a.V), stride = gridDim.x * std::size_t(Block::rows);
  const std::size_t begin = blockIdx.x * std::size_t(Block::rows) + threadIdx.x / 32 * tensor_rows;
  FetchedSteps<double2, Block::stages> fetched(a, shared.panels[threadIdx.x / 32], numbers, begin, stride);

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
      const auto& panel = fetched.next();
      // Lane (g, t) needs one part of the numbers g and g + 8 of columns t / 2 and t / 2 + 2, in both orders of parts.
      double re[4], im[4];
#pragma unroll
      for (int k = 0; k < 4; ++k) {
        const double2 x = panel[k / 2 * 2 + t / 2][k % 2 * 8 + g];
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
    }
    for_sums(0, [](double2& word, double re, double im) { __stcs(&word, double2{re, im}); });
  }
}

}  // namespace staghorn::cuda
