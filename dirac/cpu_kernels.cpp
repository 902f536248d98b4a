// The CPU kernels for one instruction set: compiled once per set, with -DSTAGHORN_ISA=name and its compiler flags.
//
// Bytes by minimal traffic per site of the target parity, R reals a link, w bytes a real, each right-hand side n:
//   hop               (8 R + 12 n) w      read links and a, write D a
//   update_residual   (8 R + 24 n) w      read links, tmp, p, r, write r
//   update_direction  30 n w              read x, p, r, write x, p
#include <omp.h>

#include <algorithm>

#include "dirac/eight_reals.hpp"
#include "dirac/hop_kernel.hpp"
#include "dirac/kernels.hpp"
#include "dirac/lane_sum.hpp"
#include "dirac/lanes.hpp"

namespace staghorn {

// Internal linkage: code for one instruction set must never be merged with another's.
namespace {

constexpr int vector_bytes = STAGHORN_VECTOR_BYTES;
template <class Real>
constexpr int lanes_of = vector_bytes / int(sizeof(Real));

template <class Real>
using Block = Lanes<Real, lanes_of<Real>>;

template <class Real>
STAGHORN_INLINE ColorVector<Block<Real>> load_vector(const Real* from) {
  constexpr int V = lanes_of<Real>;
  ColorVector<Block<Real>> v;
  STAGHORN_UNROLL
  for (int c = 0; c < 3; ++c) v.c[c] = {load<Block<Real>>(from + 2 * c * V), load<Block<Real>>(from + (2 * c + 1) * V)};
  return v;
}

template <class Real>
STAGHORN_INLINE void store_vector(Real* to, const ColorVector<Block<Real>>& v) {
  constexpr int V = lanes_of<Real>;
  STAGHORN_UNROLL
  for (int c = 0; c < 3; ++c) {
    store(to + 2 * c * V, v.c[c].re);
    store(to + (2 * c + 1) * V, v.c[c].im);
  }
}

// A hop's neighbours where they are not one plain block: permuted lanes, ghosts, boundary phases.
template <class Real>
__attribute__((noinline)) void load_special(const SpecialNeighbour& s, const Real* in, const Real* ghost, int n_rhs,
                                            int rhs, const double* phase, Real* result) {
  constexpr int V = lanes_of<Real>;
  const std::int64_t block_reals = std::int64_t{6} * n_rhs * V, component0 = std::int64_t{6} * rhs * V;
  const auto place = [&](int l) {  // the first of the six reals of lane l
    const Slot slot = s.source[l] < 0 ? ~s.source[l] : s.source[l];
    return (s.source[l] < 0 ? ghost : in) + slot / V * block_reals + component0 + slot % V;
  };
  using Index = Lanes<std::conditional_t<sizeof(Real) == 8, std::int64_t, std::int32_t>, V>;
  const auto sign = __builtin_convertvector(load<Lanes<float, V>>(s.sign), Block<Real>);
  switch (s.kind) {
    case SpecialNeighbour::permuted:
    case SpecialNeighbour::ghost_block: {
      const Real* from = (s.kind == SpecialNeighbour::ghost_block ? ghost : in) + s.block * block_reals + component0;
      const auto source = __builtin_convertvector(*reinterpret_cast<const Lanes<std::int32_t, V>*>(s.source), Index);
      for (int c = 0; c < 6; ++c)
        store(result + c * V, __builtin_shuffle(load<Block<Real>>(from + c * V), source) * sign);
      break;
    }
    case SpecialNeighbour::halves:
      for (int first = 0; first < V; first += V / 2) {
        const Real* from = place(first);
        for (int c = 0; c < 6; ++c) __builtin_memcpy(result + c * V + first, from + c * V, V / 2 * sizeof(Real));
      }
      for (int c = 0; c < 6; ++c) store(result + c * V, load<Block<Real>>(result + c * V) * sign);
      break;
    case SpecialNeighbour::scattered:
      for (int l = 0; l < V; ++l) {
        const Real* from = place(l);
        for (int c = 0; c < 6; ++c) result[c * V + l] = from[c * V];
      }
      for (int c = 0; c < 6; ++c) store(result + c * V, load<Block<Real>>(result + c * V) * sign);
  }
  if (s.phase_lanes == 0) return;
  const Real cosine = Real(phase[0]), sine = Real(phase[1]);
  STAGHORN_UNROLL
  for (int c = 0; c < 3; ++c)
    for (int l = 0; l < V; ++l) {
      if (!(s.phase_lanes >> l & 1)) continue;
      const Real re = result[2 * c * V + l], im = result[(2 * c + 1) * V + l];
      result[2 * c * V + l] = multiply_add(-sine, im, cosine * re);
      result[(2 * c + 1) * V + l] = multiply_add(sine, re, cosine * im);
    }
}

template <class Real, int Reals>
struct CpuAccess {
  static constexpr int V = lanes_of<Real>;
  const HopView& view;
  const HopCall& call;
  std::int64_t block;
  int first_rhs;
  Real* gathered;  // room for one special neighbour

  const std::int32_t* codes() const { return view.neighbours + block * 8; }

  // Links are read through one pointer and vectors through another, whatever the case, so that the arithmetic below
  // them is compiled once and free of branches.
  STAGHORN_INLINE ColorMatrix<Block<Real>> load_link(const void* links, std::int64_t index) const {
    const Real* from = static_cast<const Real*>(links) + index * (Reals * V);
    Block<Real> reals[Reals];
    STAGHORN_UNROLL
    for (int k = 0; k < Reals / 2; ++k) {
      reals[2 * k] = load<Block<Real>>(from + 2 * k * V), reals[2 * k + 1] = load<Block<Real>>(from + (2 * k + 1) * V);
      // The next block reads the link behind this one: ask for it now, the machine's own prefetchers follow too few
      // streams at once.
      __builtin_prefetch(from + Reals * V + 2 * k * V);
      if constexpr (vector_bytes == 64) __builtin_prefetch(from + Reals * V + (2 * k + 1) * V);
    }
    return link_from_reals(reals);
  }

  STAGHORN_INLINE ColorMatrix<Block<Real>> link_here(int mu) const {
    return load_link(view.links_here, mu * view.blocks + block);
  }

  STAGHORN_INLINE ColorMatrix<Block<Real>> link_behind(int mu) const {
    const std::int32_t code = codes()[2 * mu + 1];
    return load_link(code >= 0 ? view.links_there : view.links_special,
                     code >= 0 ? mu * view.blocks + (code >> 1) : view.special_link[~code]);
  }

  STAGHORN_INLINE ColorVector<Block<Real>> vector(int mu, bool forward, int r) const {
    const int hop = 2 * mu + (forward ? 0 : 1), rhs = first_rhs + r;
    const std::int32_t code = codes()[hop];
    const Real* from = static_cast<const Real*>(call.in) + (std::int64_t{code >> 1} * view.n_rhs + rhs) * (6 * V);
    Real sign = code & 1 ? Real(-1) : Real(1);
    if (code < 0) [[unlikely]] {
      load_special(view.special[~code], static_cast<const Real*>(call.in), static_cast<const Real*>(call.ghost),
                   view.n_rhs, rhs, view.phase[hop], gathered);
      from = gathered;
      sign = 1;
    }
    ColorVector<Block<Real>> v = load_vector(from);
    STAGHORN_UNROLL
    for (int c = 0; c < 3; ++c) {
      v.c[c].re *= sign;
      v.c[c].im *= sign;
    }
    return v;
  }
};

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

template <class Real, int Reals, HopUse Use, int Tile>
STAGHORN_INLINE void hop_tile(const HopView& view, const HopCall& call, std::int64_t block, int rhs, ThreadSum* sums) {
  constexpr int V = lanes_of<Real>;
  ColorVector<Block<Real>> acc[Tile];
  alignas(64) Real gathered[6 * V];
  hop_site<Tile>(CpuAccess<Real, Reals>{view, call, block, rhs, gathered}, acc);
  if (block == view.blocks - 1 && view.lanes_in_last_block < V) [[unlikely]] {  // lanes without a site hold zero
    STAGHORN_UNROLL
    for (int r = 0; r < Tile; ++r) STAGHORN_UNROLL
    for (int c = 0; c < 3; ++c)
      for (int l = view.lanes_in_last_block; l < V; ++l) acc[r].c[c].re[l] = acc[r].c[c].im[l] = 0;
  }
  STAGHORN_UNROLL
  for (int r = 0; r < Tile; ++r) {
    const std::int64_t offset = (block * view.n_rhs + rhs + r) * (6 * V);
    Real* out = static_cast<Real*>(call.out) + offset;
    if constexpr (Use == HopUse::update_residual) {
      const ColorVector<Block<Real>> p = load_vector(static_cast<const Real*>(call.p) + offset);
      const Block<Real> four_m2 = broadcast<Block<Real>>(Real(call.four_m2));
      STAGHORN_UNROLL
      for (int c = 0; c < 3; ++c) {
        acc[r].c[c].re = multiply_add(four_m2, p.c[c].re, -acc[r].c[c].re);
        acc[r].c[c].im = multiply_add(four_m2, p.c[c].im, -acc[r].c[c].im);
      }
      const Block<Real> alpha = broadcast<Block<Real>>(Real(-call.alpha[rhs + r]));
      const ColorVector<Block<Real>> residual = load_vector(out);
      STAGHORN_UNROLL
      for (int c = 0; c < 3; ++c) {
        acc[r].c[c].re = multiply_add(alpha, acc[r].c[c].re, residual.c[c].re);
        acc[r].c[c].im = multiply_add(alpha, acc[r].c[c].im, residual.c[c].im);
      }
    }
    store_vector(out, acc[r]);
    if constexpr (Use == HopUse::store_norm || Use == HopUse::update_residual)
      add_norm2<Real>(out, sums[rhs + r], call.grids[rhs + r]);
  }
}

template <class Real, int Reals, HopUse Use>
void hop_blocks(const HopView& view, const HopCall& call) {
  constexpr bool sums_up = Use == HopUse::store_norm || Use == HopUse::update_residual;
  for_blocks(call.blocks, std::int64_t(call.blocks.size()), sums_up ? view.n_rhs : 0, call.grids, call.sums,
             [&](std::int64_t block, ThreadSum* sums) {
               int rhs = 0;
               for (; rhs + 4 <= view.n_rhs; rhs += 4) hop_tile<Real, Reals, Use, 4>(view, call, block, rhs, sums);
               if (rhs + 3 == view.n_rhs) return hop_tile<Real, Reals, Use, 3>(view, call, block, rhs, sums);
               for (; rhs < view.n_rhs; ++rhs) hop_tile<Real, Reals, Use, 1>(view, call, block, rhs, sums);
             });
}

template <class Real>
void update_direction_blocks(const HopView& view, const DirectionCall& call) {
  constexpr int V = lanes_of<Real>;
  for_blocks({}, view.blocks, view.n_rhs, call.grids, call.sums, [&](std::int64_t block, ThreadSum* sums) {
    for (int r = 0; r < view.n_rhs; ++r) {
      const std::int64_t offset = (block * view.n_rhs + r) * (6 * V);
      Real* x = static_cast<Real*>(call.x) + offset;
      Real* p = static_cast<Real*>(call.p) + offset;
      const Real* residual = static_cast<const Real*>(call.r) + offset;
      const Block<Real> alpha = broadcast<Block<Real>>(Real(call.alpha[r]));
      const Block<Real> beta = broadcast<Block<Real>>(Real(call.beta[r]));
      STAGHORN_UNROLL
      for (int k = 0; k < 6; ++k) {
        const Block<Real> direction = load<Block<Real>>(p + k * V);
        store(x + k * V, multiply_add(alpha, direction, load<Block<Real>>(x + k * V)));        // x += alpha p
        store(p + k * V, multiply_add(beta, direction, load<Block<Real>>(residual + k * V)));  // p = r + beta p
      }
      add_norm2<Real>(p, sums[r], call.grids[r]);
    }
  });
}

template <class Real>
void norm2_blocks(const HopView& view, const void* v, const SumGrid* grids, ExactPartial* totals) {
  for_blocks({}, view.blocks, view.n_rhs, grids, totals, [&](std::int64_t block, ThreadSum* sums) {
    for (int r = 0; r < view.n_rhs; ++r)
      add_norm2<Real>(static_cast<const Real*>(v) + (block * view.n_rhs + r) * (6 * lanes_of<Real>), sums[r], grids[r]);
  });
}

// Run-time choices into templates, here and nowhere else.
template <class Real, int Reals>
void hop_for_use(const HopView& view, const HopCall& call) {
  switch (call.use) {
    case HopUse::store:
      return hop_blocks<Real, Reals, HopUse::store>(view, call);
    case HopUse::store_norm:
      return hop_blocks<Real, Reals, HopUse::store_norm>(view, call);
    case HopUse::update_residual:
      return hop_blocks<Real, Reals, HopUse::update_residual>(view, call);
  }
}

template <class Real>
void hop_for_links(const HopView& view, const HopCall& call) {
  if (view.reconstruct == Reconstruct::none18) return hop_for_use<Real, 18>(view, call);
  if (view.reconstruct == Reconstruct::row12) return hop_for_use<Real, 12>(view, call);
  hop_for_use<Real, 8>(view, call);
}

void hop(const HopView& view, const HopCall& call) {
  if (view.precision == Precision::fp64) return hop_for_links<double>(view, call);
  hop_for_links<float>(view, call);
}

void update_direction(const HopView& view, const DirectionCall& call) {
  if (view.precision == Precision::fp64) return update_direction_blocks<double>(view, call);
  update_direction_blocks<float>(view, call);
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

void norm2(const HopView& view, const void* v, const SumGrid* grids, ExactPartial* sums) {
  if (view.precision == Precision::fp64) return norm2_blocks<double>(view, v, grids, sums);
  norm2_blocks<float>(view, v, grids, sums);
}

}  // namespace

#define STAGHORN_STRINGIFY_VALUE(x) #x
#define STAGHORN_STRINGIFY(x) STAGHORN_STRINGIFY_VALUE(x)
#define STAGHORN_JOIN_VALUES(a, b) a##b
#define STAGHORN_JOIN(a, b) STAGHORN_JOIN_VALUES(a, b)

extern const Kernels STAGHORN_JOIN(cpu_kernels_, STAGHORN_ISA);
const Kernels STAGHORN_JOIN(cpu_kernels_, STAGHORN_ISA) = {STAGHORN_STRINGIFY(STAGHORN_ISA),
                                                           MemorySpace::host,
                                                           vector_bytes,
                                                           0,
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
