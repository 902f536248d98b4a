// The CPU kernels for one instruction set: compiled once per set, with -DSTAGHORN_ISA=name and its compiler flags.
//
// Bytes and flops of the kernels: dirac/stencil/hop_cost.hpp. In fp16 a vector takes 16 bytes (x 24) a site.
#include <omp.h>

#include <algorithm>

#include "dirac/algebra/dispatch.hpp"
#include "dirac/algebra/lane_sum.hpp"
#include "dirac/kernels/cpu/cpu_access.hpp"
#include "dirac/kernels/cpu/cpu_cg_site.hpp"
#include "dirac/kernels/hop_kernel.hpp"
#include "dirac/kernels/kernel_table.hpp"

namespace staghorn {

// Internal linkage: code for one instruction set must never be merged with another's.
namespace {

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
    const std::int64_t vector = block * view.vectors.n_rhs + rhs + r;
    Stored* const out = static_cast<Stored*>(call.out) + vector * vector_stride<Stored>;
    HopSite<Stored> site{call, rhs + r, out, static_cast<Stored*>(call.p) + vector * vector_stride<Stored>,
                         static_cast<Real*>(call.x) + vector * vector_stride<Real>};
    finish_hop<Use>(site, acc[r]);
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
  for_blocks({}, view.vectors.blocks, view.vectors.n_rhs, call.grids, call.sums,
             [&](std::int64_t block, ThreadSum* sums) {
               for (int r = 0; r < view.vectors.n_rhs; ++r) {
                 const std::int64_t vector = block * view.vectors.n_rhs + r, offset = vector * vector_stride<Stored>;
                 Stored* const p = static_cast<Stored*>(call.p) + offset;
                 Real* const x = call.x ? static_cast<Real*>(call.x) + vector * vector_stride<Real> : nullptr;
                 const DirectionSite<Stored> site{call.x ? Real(call.alpha[r]) : 0, Real(call.beta[r]), p,
                                                  static_cast<const Stored*>(call.r) + offset, x};
                 store_vector(p, next_direction(site));
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

void hop(const HopView& view, const HopCall& call) {
  with_stored_links(view.vectors.precision, view.reconstruct, call.in,
                    [&]<class Stored, int Reals>(const Stored*, std::integral_constant<int, Reals>) {
                      hop_for_use<Stored, Reals>(view, call);
                    });
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
