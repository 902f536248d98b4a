// The CPU kernels for one instruction set: compiled once per set, with -DSTAGHORN_ISA=name and its compiler flags.
//
// Bytes and flops of the kernels: dirac/stencil/hop_cost.hpp. In fp16 a vector takes 16 bytes (x 24) a site.
#include "dirac/algebra/dispatch.hpp"
#include "dirac/kernels/cpu/cpu_hop.hpp"

namespace staghorn {

// Internal linkage: code for one instruction set must never be merged with another's.
namespace {

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

// Naive quarks.
template <class Stored, int Reals>
struct NaiveHop {
  template <int Tile, class Real>
  STAGHORN_INLINE void compute(const HopView& view, const HopCall& call, std::int64_t block, int rhs,
                               Arithmetic<Stored>* gathered, ColorVector<Real> (&acc)[Tile]) const {
    hop_site<Tile>(CpuAccess<Stored, Reals>{view, call, block, rhs, gathered}, acc);
  }
};

void improved_hop(const HopView& view, const HopCall& call) {
  switch (view.vectors.precision) {
    case Precision::fp64:
      return STAGHORN_FOR_ISA(improved_hop_fp64_)(view, call);
    case Precision::fp32:
      return STAGHORN_FOR_ISA(improved_hop_fp32_)(view, call);
    case Precision::fp16:
      return STAGHORN_FOR_ISA(improved_hop_fp16_)(view, call);
  }
}

void hop(const HopView& view, const HopCall& call) {
  if (view.stencil == Stencil::improved) return improved_hop(view, call);
  with_stored_links(view.vectors.precision, view.near.reconstruct, call.in,
                    [&]<class Stored, int Reals>(const Stored*, std::integral_constant<int, Reals>) {
                      hop_for_use<Stored>(NaiveHop<Stored, Reals>(), view, call);
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

extern const KernelTable STAGHORN_FOR_ISA(cpu_kernels_);
const KernelTable STAGHORN_FOR_ISA(cpu_kernels_) = {STAGHORN_STRINGIFY(STAGHORN_ISA),
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
