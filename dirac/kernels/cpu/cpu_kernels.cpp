// The CPU kernels for one instruction set: compiled once per set, with -DSTAGHORN_ISA=name and its compiler flags.
//
// Bytes by minimal traffic per site of the target parity, R reals a link, w bytes a real, each right-hand side n:
//   hop               (8 R + 12 n) w      read links and a, write D a
//                     18 n with beta, D a read before
//   update_residual   (8 R + 24 n) w      read links, tmp, p, r, write r
//                     30 n with beta, p written; 42 n with x, read and written
//   update_direction  18 n w              read p, r, write p;  30 n with x
// In fp16 a vector takes 16 bytes (x 24) in place of 6 w.
#include <omp.h>

#include <algorithm>

#include "dirac/algebra/lane_sum.hpp"
#include "dirac/kernels/cpu/cpu_access.hpp"
#include "dirac/kernels/hop_kernel.hpp"
#include "dirac/kernels/kernel_table.hpp"

namespace staghorn {

// Internal linkage: code for one instruction set must never be merged with another's.
namespace {

// Adds |v|^2 of every lane, in double, colours in order.
template <class Real, int W>
STAGHORN_INLINE void add_norm2(const Real* v, LaneSum<W>& sum, const SumGrid& grid) {
  constexpr int V = lanes_of<Real>;
  for (int first = 0; first < V; first += W) {
    Lanes<double, W> norm2{};
    STAGHORN_UNROLL
    for (int k = 0; k < 6; ++k) {
      const auto x = __builtin_convertvector(load<Lanes<Real, W>>(v + k * V + first), Lanes<double, W>);
      norm2 = multiply_add(x, x, norm2);
    }
    sum.add(norm2, grid);
  }
}

template <int W>
STAGHORN_INLINE void add_norm2(const std::int16_t* v, LaneSum<W>& sum, const SumGrid& grid) {
  alignas(64) float reals[6 * lanes_of<float>];
  store_vector(reals, load_vector(v));
  add_norm2<float>(reals, sum, grid);
}

constexpr int sum_width = vector_bytes / 8;
using ThreadSum = LaneSum<sum_width>;

// Runs work(block, sums) over the blocks with one set of running sums per thread, and adds them all up.
template <class Work>
void for_blocks(std::span<const std::int32_t> list, std::int64_t count, int n_sums, const SumGrid* grids,
                ExactPartial* totals, const Work& work) {
#pragma omp parallel
  {
    ThreadSum sums[max_rhs];
    ExactPartial partials[max_rhs];
    const std::int64_t first = count * omp_get_thread_num() / omp_get_num_threads();
    const std::int64_t last = count * (omp_get_thread_num() + 1) / omp_get_num_threads();
    constexpr std::int64_t batch = ThreadSum::capacity / 2;  // fp32 blocks add twice
    for (std::int64_t begin = first; begin < last; begin += batch) {
      const std::int64_t end = std::min(last, begin + batch);
      for (std::int64_t k = begin; k < end; ++k) work(list.empty() ? k : list[std::size_t(k)], sums);
      for (int r = 0; r < n_sums; ++r) sums[r].flush(grids[r], partials[r]);
    }
#pragma omp critical(staghorn_exact_sums)
    for (int r = 0; r < n_sums; ++r) {
      totals[r].total += partials[r].total;
      totals[r].overflow |= partials[r].overflow;
    }
  }
}

// x += alpha p in one block of one right-hand side.
template <class Real>
STAGHORN_INLINE void add_to_solution(Real* x, Real alpha, const BlockVector<Real>& p) {
  const Block<Real> times_p = broadcast<Block<Real>>(alpha);
  BlockVector<Real> solution = load_vector(static_cast<const Real*>(x));
  STAGHORN_UNROLL
  for (int c = 0; c < 3; ++c) {
    solution.c[c].re = multiply_add(times_p, p.c[c].re, solution.c[c].re);
    solution.c[c].im = multiply_add(times_p, p.c[c].im, solution.c[c].im);
  }
  store_vector(x, solution);
}

// v = factor v + other.
template <class Real>
STAGHORN_INLINE void scale_and_add(ColorVector<Block<Real>>& v, Real factor, const ColorVector<Block<Real>>& other) {
  const Block<Real> times = broadcast<Block<Real>>(factor);
  STAGHORN_UNROLL
  for (int c = 0; c < 3; ++c) {
    v.c[c].re = multiply_add(times, v.c[c].re, other.c[c].re);
    v.c[c].im = multiply_add(times, v.c[c].im, other.c[c].im);
  }
}

// p = r + beta p, and what the next to read it will find.
template <class Stored>
STAGHORN_INLINE void next_direction(Stored* stored, BlockVector<Stored>& p, Arithmetic<Stored> beta,
                                    const BlockVector<Stored>& residual) {
  scale_and_add(p, beta, residual);
  store_vector(stored, p);
  if constexpr (is_fixed_point<Stored>) p = load_vector(static_cast<const Stored*>(stored));
}

template <class Stored, int Reals, HopUse Use, int Tile>
STAGHORN_INLINE void hop_tile(const HopView& view, const HopCall& call, std::int64_t block, int rhs, ThreadSum* sums) {
  using Real = Arithmetic<Stored>;
  constexpr int V = lanes_of<Real>;
  ColorVector<Block<Real>> acc[Tile];
  alignas(64) Real gathered[6 * V];
  hop_site<Tile>(CpuAccess<Stored, Reals>{view, call, block, rhs, gathered}, acc);
  if (block == view.vectors.blocks - 1 && view.vectors.lanes_in_last_block < V)
      [[unlikely]] {  // lanes without a site hold zero
    STAGHORN_UNROLL
    for (int r = 0; r < Tile; ++r) STAGHORN_UNROLL
    for (int c = 0; c < 3; ++c)
      for (int l = view.vectors.lanes_in_last_block; l < V; ++l) acc[r].c[c].re[l] = acc[r].c[c].im[l] = 0;
  }
  STAGHORN_UNROLL
  for (int r = 0; r < Tile; ++r) {
    const std::int64_t offset = (block * view.vectors.n_rhs + rhs + r) * vector_stride<Stored>;
    Stored* out = static_cast<Stored*>(call.out) + offset;
    if constexpr (Use == HopUse::store_norm)
      if (call.beta) {
        BlockVector<Stored> before = load_vector(static_cast<const Stored*>(out));
        scale_and_add(before, Real(call.beta[rhs + r]), acc[r]);
        acc[r] = before;
      }
    if constexpr (Use == HopUse::update_residual) {
      Stored* const stored_p = static_cast<Stored*>(call.p) + offset;
      const BlockVector<Stored> residual = load_vector(static_cast<const Stored*>(out));
      BlockVector<Stored> p = load_vector(static_cast<const Stored*>(stored_p));
      Real* const x = static_cast<Real*>(call.x) + (block * view.vectors.n_rhs + rhs + r) * vector_stride<Real>;
      const Real of_old = call.x ? Real(call.of_old[rhs + r]) : 0, of_new = call.x ? Real(call.of_new[rhs + r]) : 0;
      const bool grows = of_old != 0 || of_new != 0;
      if (grows) add_to_solution(x, of_old, p);  // at once: two p at hand would find no registers
      if (call.beta) next_direction(stored_p, p, Real(call.beta[rhs + r]), residual);
      if (grows) add_to_solution(x, of_new, p);
      const Block<Real> four_m2 = broadcast<Block<Real>>(Real(call.four_m2));
      STAGHORN_UNROLL
      for (int c = 0; c < 3; ++c) {
        acc[r].c[c].re = multiply_add(four_m2, p.c[c].re, -acc[r].c[c].re);
        acc[r].c[c].im = multiply_add(four_m2, p.c[c].im, -acc[r].c[c].im);
      }
      const Block<Real> alpha = broadcast<Block<Real>>(Real(-call.alpha[rhs + r]));
      STAGHORN_UNROLL
      for (int c = 0; c < 3; ++c) {
        acc[r].c[c].re = multiply_add(alpha, acc[r].c[c].re, residual.c[c].re);
        acc[r].c[c].im = multiply_add(alpha, acc[r].c[c].im, residual.c[c].im);
      }
    }
    store_vector(out, acc[r]);
    if constexpr (Use == HopUse::store_norm || Use == HopUse::update_residual)
      add_norm2(out, sums[rhs + r], call.grids[rhs + r]);
  }
}

template <class Stored, int Reals, HopUse Use>
void hop_blocks(const HopView& view, const HopCall& call) {
  constexpr bool sums_up = Use == HopUse::store_norm || Use == HopUse::update_residual;
  for_blocks(call.blocks, std::int64_t(call.blocks.size()), sums_up ? view.vectors.n_rhs : 0, call.grids, call.sums,
             [&](std::int64_t block, ThreadSum* sums) {
               int rhs = 0;
               for (; rhs + 4 <= view.vectors.n_rhs; rhs += 4)
                 hop_tile<Stored, Reals, Use, 4>(view, call, block, rhs, sums);
               if (rhs + 3 == view.vectors.n_rhs) return hop_tile<Stored, Reals, Use, 3>(view, call, block, rhs, sums);
               for (; rhs < view.vectors.n_rhs; ++rhs) hop_tile<Stored, Reals, Use, 1>(view, call, block, rhs, sums);
             });
}

template <class Stored>
void update_direction_blocks(const HopView& view, const DirectionCall& call) {
  using Real = Arithmetic<Stored>;
  for_blocks(
      {}, view.vectors.blocks, view.vectors.n_rhs, call.grids, call.sums, [&](std::int64_t block, ThreadSum* sums) {
        for (int r = 0; r < view.vectors.n_rhs; ++r) {
          const std::int64_t vector = block * view.vectors.n_rhs + r;
          Stored* p = static_cast<Stored*>(call.p) + vector * vector_stride<Stored>;
          const Stored* residual = static_cast<const Stored*>(call.r) + vector * vector_stride<Stored>;
          BlockVector<Stored> direction = load_vector(static_cast<const Stored*>(p));
          if (call.x && Real(call.alpha[r]) != 0)
            add_to_solution(static_cast<Real*>(call.x) + vector * vector_stride<Real>, Real(call.alpha[r]), direction);
          next_direction(p, direction, Real(call.beta[r]), load_vector(residual));
          add_norm2(p, sums[r], call.grids[r]);
        }
      });
}

template <class Stored>
void norm2_blocks(const VectorShape& shape, const Stored* v, const SumGrid* grids, ExactPartial* totals) {
  for_blocks({}, shape.blocks, shape.n_rhs, grids, totals, [&](std::int64_t block, ThreadSum* sums) {
    for (int r = 0; r < shape.n_rhs; ++r)
      add_norm2(v + (block * shape.n_rhs + r) * vector_stride<Stored>, sums[r], grids[r]);
  });
}

// Run-time choices into templates, here and nowhere else.
template <class Stored, int Reals>
void hop_for_use(const HopView& view, const HopCall& call) {
  switch (call.use) {
    case HopUse::store:
      return hop_blocks<Stored, Reals, HopUse::store>(view, call);
    case HopUse::store_norm:
      return hop_blocks<Stored, Reals, HopUse::store_norm>(view, call);
    case HopUse::update_residual:
      return hop_blocks<Stored, Reals, HopUse::update_residual>(view, call);
  }
}

template <class Stored>
void hop_for_links(const HopView& view, const HopCall& call) {
  if (view.reconstruct == Reconstruct::none18) return hop_for_use<Stored, 18>(view, call);
  if (view.reconstruct == Reconstruct::row12) return hop_for_use<Stored, 12>(view, call);
  hop_for_use<Stored, 8>(view, call);
}

void hop(const HopView& view, const HopCall& call) {
  with_stored(view.vectors.precision, call.in, [&]<class Stored>(const Stored*) { hop_for_links<Stored>(view, call); });
}

void update_direction(const HopView& view, const DirectionCall& call) {
  with_stored(view.vectors.precision, call.r,
              [&]<class Stored>(const Stored*) { update_direction_blocks<Stored>(view, call); });
}

template <class Real>
void combine_reals(std::int64_t n, Real alpha, const Real* a, Real beta, Real* b) {
#pragma omp parallel for simd schedule(static)
  for (std::int64_t i = 0; i < n; ++i) b[i] = multiply_add(alpha, a[i], beta * b[i]);
}

void combine(Precision precision, std::int64_t n, double alpha, const void* a, double beta, void* b) {
  if (precision == Precision::fp64)
    return combine_reals(n, alpha, static_cast<const double*>(a), beta, static_cast<double*>(b));
  combine_reals(n, float(alpha), static_cast<const float*>(a), float(beta), static_cast<float*>(b));
}

void read_stream(const void* data, std::int64_t bytes, std::int64_t* sum) {
  using Words = Lanes<std::int64_t, vector_bytes / 8>;
  constexpr int streams = 8;
  std::int64_t total = 0;
#pragma omp parallel reduction(+ : total)
  {
    const std::int64_t rows = bytes / std::int64_t(streams * sizeof(Words));
    const std::int64_t first = rows * omp_get_thread_num() / omp_get_num_threads();
    const std::int64_t last = rows * (omp_get_thread_num() + 1) / omp_get_num_threads();
    Words sums[streams] = {};
    for (std::int64_t row = first; row < last; ++row) {
      STAGHORN_UNROLL
      for (int k = 0; k < streams; ++k) sums[k] += static_cast<const Words*>(data)[row * streams + k];
    }
    for (int k = 0; k < streams; ++k)
      for (int l = 0; l < vector_bytes / 8; ++l) total += sums[k][l];
  }
  *sum += total;
}

void norm2(const VectorShape& shape, const LaunchContext&, const void* v, const SumGrid* grids, ExactPartial* sums) {
  with_stored(shape.precision, v, [&](const auto* stored) { norm2_blocks(shape, stored, grids, sums); });
}

}  // namespace

#define STAGHORN_STRINGIFY_VALUE(x) #x
#define STAGHORN_STRINGIFY(x) STAGHORN_STRINGIFY_VALUE(x)
#define STAGHORN_JOIN_VALUES(a, b) a##b
#define STAGHORN_JOIN(a, b) STAGHORN_JOIN_VALUES(a, b)

extern const KernelTable STAGHORN_JOIN(cpu_kernels_, STAGHORN_ISA);
const KernelTable STAGHORN_JOIN(cpu_kernels_, STAGHORN_ISA) = {STAGHORN_STRINGIFY(STAGHORN_ISA),
                                                               MemorySpace::host,
                                                               vector_bytes,
                                                               0,
                                                               hop,
                                                               update_direction,
                                                               nullptr,
                                                               nullptr,
                                                               nullptr,
                                                               norm2,
                                                               combine,
                                                               read_stream};

}  // namespace staghorn
