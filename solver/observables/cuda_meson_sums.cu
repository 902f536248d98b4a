// Bytes per site of a shift: 288 of links, 48 each of the field, of the sum read and of the sum written. Of the sums of
// a pair: 96 a pass, and two passes for each four momenta.
#include <algorithm>
#include <vector>

#include "dirac/algebra/exact_sum.hpp"
#include "dirac/operators/plain_operator.hpp"
#include "halo/cuda/cuda_check.hpp"
#include "solver/observables/cuda_meson_sums.hpp"
#include "solver/observables/meson_site.hpp"
#include "solver/observables/spin_taste_operator.hpp"

namespace staghorn {

namespace {

using Vector = ColorVector<double>;

constexpr int sites_of_block = 64, shift_threads = 3 * sites_of_block;  // a thread for each colour
constexpr int threads = 128, momenta_at_once = 4;
constexpr unsigned most_blocks = 16;  // of a kind of sites of a slice
unsigned blocks_for(std::int64_t sites) { return unsigned((sites + sites_of_block - 1) / sites_of_block); }

// Of this thread.
__device__ __forceinline__ std::uint32_t my_item() { return blockIdx.x * sites_of_block + threadIdx.x / 3; }
__device__ __forceinline__ int my_color() { return int(threadIdx.x % 3); }

__global__ void __launch_bounds__(shift_threads)
    shift_kernel(const __grid_constant__ PlainHop hop, MesonGeometry geometry, double weight, Vector* sum,
                 std::uint32_t sites) {
  const std::uint32_t site = my_item();
  const int i = my_color();
  if (site >= sites) return;
  const Complex<double> v = symmetric_shift_at(hop, site, i);
  const double factor = zeta_is_negative(hop, geometry, hop.legs[0].mu, site) ? -weight : weight;
  const Complex<double> before = plain_number(sum[site].c[i]);
  set_plain_number(sum[site].c[i], {multiply_add(factor, v.re, before.re), multiply_add(factor, v.im, before.im)});
}

// What the rank behind reads ahead of it, or the rank ahead behind it.
__global__ void __launch_bounds__(shift_threads)
    face_kernel(const __grid_constant__ PlainHop hop, bool last_slices, Vector* face, std::uint32_t items) {
  const std::uint32_t k = my_item();
  const int i = my_color();
  if (k >= items) return;
  const std::int64_t site = plain_face_site(hop, hop.legs[0], last_slices, k);
  set_plain_number(face[k].c[i],
                   last_slices ? plain_backward(hop, hop.legs[0], site, i) : plain_number(hop.in[site].c[i]));
}

MesonGeometry geometry_of(const Lattice& lattice, const Coordinates& source) {
  MesonGeometry geometry;
  for (int mu = 0; mu < 4; ++mu) {
    geometry.local[mu] = lattice.local()[mu];
    geometry.origin[mu] = lattice.origin()[mu];
    geometry.source[mu] = source[mu];
  }
  return geometry;
}

// The face that the neighbour in `direction` has for us, on the device.
Buffer exchanged(const Communicator& communicator, const Lattice& lattice, const PlainHop& hop, int direction) {
  const int mu = hop.legs[0].mu;
  const std::int64_t sites = lattice.local_volume() / lattice.local()[mu];
  Buffer face(std::size_t(sites) * sizeof(Vector), MemorySpace::cuda);
  Vector* const on_device = reinterpret_cast<Vector*>(face.data());
  face_kernel<<<blocks_for(sites), shift_threads>>>(hop, direction < 0, on_device, std::uint32_t(sites));
  STAGHORN_CUDA_CHECK_LAUNCH(face_kernel);
  std::vector<Vector> outgoing(static_cast<std::size_t>(sites));
  STAGHORN_CUDA_CHECK(cudaMemcpy(outgoing.data(), on_device, face.bytes(), cudaMemcpyDeviceToHost));
  const std::vector<Vector> incoming = exchange_face(communicator, lattice, mu, direction, outgoing);
  STAGHORN_CUDA_CHECK(cudaMemcpy(on_device, incoming.data(), face.bytes(), cudaMemcpyHostToDevice));
  return face;
}

// Tables of the factors of one momentum, by local coordinates.
struct FactorTables {
  const Complex<double>* of[3];
};

struct SumsOf {
  const Vector *a, *b;
  MesonGeometry geometry;
  const FactorTables* factors;  // of each momentum
  int n_momenta;
};

// Real and imaginary part of all sums: [momentum][local t][kind][part].
struct Limbs {
  long long high, low;  // in units u1 and u2 of the grid
  int overflow;
};

__device__ __forceinline__ std::size_t slot_of(const SumsOf& sums, int momentum, int part) {
  return ((std::size_t(momentum) * std::size_t(sums.geometry.local[3]) * n_kinds) + blockIdx.y) * 2 + std::size_t(part);
}

// Calls take(momentum of the four, w(x) a^dagger(x) b(x)) for the sites of this thread. Block y: kind of a time slice.
template <class Take>
__device__ __forceinline__ void for_my_sites(const SumsOf& sums, const Take& take) {
  const int kind = int(blockIdx.y % n_kinds), t = int(blockIdx.y / n_kinds);
  const KindSites sites = sites_of_kind(sums.geometry, kind);
  const int n = number_of(sites), first = int(blockIdx.z) * momenta_at_once;
  const int* const local = sums.geometry.local;
  for (int k = int(blockIdx.x) * threads + int(threadIdx.x); k < n; k += int(gridDim.x) * threads) {
    int x[3];
    place_of_kind(sites, k, x);
    const std::int64_t site = ((std::int64_t{t} * local[2] + x[2]) * local[1] + x[1]) * local[0] + x[0];
    const Complex<double> product = plain_dot(sums.a[site], sums.b[site]);
#pragma unroll
    for (int m = 0; m < momenta_at_once; ++m) {
      if (first + m >= sums.n_momenta) break;
      const FactorTables& factors = sums.factors[first + m];
      const Complex<double> of_row = plain_number(factors.of[1][x[1]]) * plain_number(factors.of[2][x[2]]);
      take(m, (plain_number(factors.of[0][x[0]]) * of_row) * product);
    }
  }
}

// largest: the bits of max |value| of each sum, which are ordered like the numbers; passes over NaN.
__global__ void __launch_bounds__(threads) largest_kernel(SumsOf sums, unsigned long long* largest) {
  double mine[momenta_at_once][2] = {};
  for_my_sites(sums, [&](int m, const Complex<double>& value) {
    const double re = fabs(value.re), im = fabs(value.im);
    if (re > mine[m][0]) mine[m][0] = re;
    if (im > mine[m][1]) mine[m][1] = im;
  });
  const int first = int(blockIdx.z) * momenta_at_once;
#pragma unroll
  for (int m = 0; m < momenta_at_once; ++m)
#pragma unroll
    for (int part = 0; part < 2; ++part) {
      double value = mine[m][part];
      for (int step = 16; step > 0; step /= 2) value = fmax(value, __shfl_down_sync(~0u, value, step));
      if (threadIdx.x % 32 == 0 && first + m < sums.n_momenta)
        atomicMax(&largest[slot_of(sums, first + m, part)], (unsigned long long)__double_as_longlong(value));
    }
}

__device__ __forceinline__ void add_to(long long& total, long long share) {
  atomicAdd(reinterpret_cast<unsigned long long*>(&total), (unsigned long long)share);
}

__global__ void __launch_bounds__(threads) sums_kernel(SumsOf sums, const SumGrid* grids, Limbs* totals) {
  const int first = int(blockIdx.z) * momenta_at_once;
  Limbs mine[momenta_at_once][2] = {};
  SumGrid grid[momenta_at_once][2];
#pragma unroll
  for (int m = 0; m < momenta_at_once; ++m)
    for (int part = 0; part < 2; ++part)
      if (first + m < sums.n_momenta) grid[m][part] = grids[slot_of(sums, first + m, part)];
  const auto add = [](const SumGrid& grid, double v, Limbs& limbs) {  // as ExactPartial::add
    if (!(fabs(v) <= grid.bound)) {
      limbs.overflow = 1;
      return;
    }
    const double high = (v + grid.round1) - grid.round1;
    const double low = ((v - high) + grid.round2) - grid.round2;
    limbs.high += (long long)(high / grid.u1);
    limbs.low += (long long)(low / grid.u2);
  };
  for_my_sites(sums, [&](int m, const Complex<double>& value) {
    add(grid[m][0], value.re, mine[m][0]);
    add(grid[m][1], value.im, mine[m][1]);
  });
#pragma unroll
  for (int m = 0; m < momenta_at_once; ++m)
#pragma unroll
    for (int part = 0; part < 2; ++part) {
      Limbs& limbs = mine[m][part];
      for (int step = 16; step > 0; step /= 2) {
        limbs.high += __shfl_down_sync(~0u, limbs.high, step);
        limbs.low += __shfl_down_sync(~0u, limbs.low, step);
      }
      const bool overflow = __any_sync(~0u, limbs.overflow);
      if (threadIdx.x % 32 != 0 || first + m >= sums.n_momenta) continue;
      Limbs& total = totals[slot_of(sums, first + m, part)];
      add_to(total.high, limbs.high);
      add_to(total.low, limbs.low);
      if (overflow) total.overflow = 1;
    }
}

template <class Value>
Value* values_in(Buffer& buffer) {
  return reinterpret_cast<Value*>(buffer.data());
}

template <class Value>
Buffer to_device(const std::vector<Value>& values) {
  Buffer buffer(values.size() * sizeof(Value), MemorySpace::cuda);
  STAGHORN_CUDA_CHECK(cudaMemcpy(buffer.data(), values.data(), buffer.bytes(), cudaMemcpyHostToDevice));
  return buffer;
}

template <class Value>
std::vector<Value> to_host(const Buffer& buffer) {
  std::vector<Value> values(buffer.bytes() / sizeof(Value));
  STAGHORN_CUDA_CHECK(cudaMemcpy(values.data(), buffer.data(), buffer.bytes(), cudaMemcpyDeviceToHost));
  return values;
}

// The sums of a list of pairs on this rank, slot by slot: [pair][momentum][local t][kind][part].
class PairSums {
 public:
  PairSums(const Lattice& lattice, const MesonTerms& terms, std::span<const FieldPair> pairs)
      : lattice_(lattice), terms_(terms), pairs_(pairs) {
    std::vector<FactorTables> tables;
    for (const SinkMomentum& momentum : terms.momenta) {
      const auto factors = momentum_factors(lattice, terms.origin, momentum);
      FactorTables& table = tables.emplace_back();
      for (int i = 0; i < 3; ++i)
        table.of[i] = values_in<const Complex<double>>(kept_.emplace_back(to_device(factors[std::size_t(i)])));
    }
    factors_ = to_device(tables);
  }

  std::size_t slots_of_pair() const { return terms_.momenta.size() * std::size_t(lattice_.local()[3]) * n_kinds * 2; }

  std::vector<double> largest() {
    Buffer found(pairs_.size() * slots_of_pair() * sizeof(unsigned long long), MemorySpace::cuda);
    for (std::size_t p = 0; p < pairs_.size(); ++p) {
      largest_kernel<<<grid(), threads>>>(sums_of(p), values_in<unsigned long long>(found) + p * slots_of_pair());
      STAGHORN_CUDA_CHECK_LAUNCH(largest_kernel);
    }
    return to_host<double>(found);
  }

  std::vector<Limbs> totals(const std::vector<SumGrid>& grids) {
    Buffer on_device = to_device(grids), found(grids.size() * sizeof(Limbs), MemorySpace::cuda);
    for (std::size_t p = 0; p < pairs_.size(); ++p) {
      const std::size_t first = p * slots_of_pair();
      sums_kernel<<<grid(), threads>>>(sums_of(p), values_in<SumGrid>(on_device) + first,
                                       values_in<Limbs>(found) + first);
      STAGHORN_CUDA_CHECK_LAUNCH(sums_kernel);
    }
    return to_host<Limbs>(found);
  }

 private:
  dim3 grid() const {
    const std::int64_t sites = lattice_.local_volume() / lattice_.local()[3] / std::int64_t(n_kinds) + 1;
    const auto chunks = unsigned(std::clamp<std::int64_t>((sites + threads - 1) / threads, 1, most_blocks));
    const auto groups = unsigned((terms_.momenta.size() + momenta_at_once - 1) / momenta_at_once);
    return {chunks, unsigned(lattice_.local()[3]) * unsigned(n_kinds), groups};
  }

  SumsOf sums_of(std::size_t pair) {
    return {pairs_[pair].a->data(), pairs_[pair].b->data(), geometry_of(lattice_, terms_.origin),
            values_in<const FactorTables>(factors_), int(terms_.momenta.size())};
  }

  const Lattice& lattice_;
  const MesonTerms& terms_;
  std::span<const FieldPair> pairs_;
  std::vector<Buffer> kept_;
  Buffer factors_;
};

}  // namespace

void cuda_add_shift(const Communicator& communicator, const MeasuredLinks& links, const Coordinates& source, int mu,
                    double weight, const VectorField& f, VectorField& sum) {
  const Lattice& lattice = f.lattice();
  PlainHop hop;
  for (int nu = 0; nu < 4; ++nu) {
    hop.local[nu] = lattice.local()[nu];
    hop.origin[nu] = lattice.origin()[nu];
    hop.global[nu] = lattice.global()[nu];
    hop.crossing_phase[nu] = boundary_phase(links.boundary.theta[std::size_t(nu)]);
  }
  hop.in = f.data();
  hop.n_legs = 1;
  hop.legs[0] = {mu, 1, 1, reinterpret_cast<const ColorMatrix<double>*>(links.thin->data()) + mu, 4};
  Buffer ahead, behind;
  if (lattice.grid()[mu] > 1) {
    ahead = exchanged(communicator, lattice, hop, +1);
    behind = exchanged(communicator, lattice, hop, -1);
    hop.legs[0].ahead = reinterpret_cast<const Vector*>(ahead.data());
    hop.legs[0].behind = reinterpret_cast<const Vector*>(behind.data());
  }
  const auto sites = std::uint32_t(lattice.local_volume());
  shift_kernel<<<blocks_for(sites), shift_threads>>>(hop, geometry_of(lattice, source), weight, sum.data(), sites);
  STAGHORN_CUDA_CHECK_LAUNCH(shift_kernel);
  STAGHORN_CUDA_CHECK(cudaStreamSynchronize(nullptr));
}

std::vector<KindSums> cuda_kind_sums(const Communicator& communicator, const MesonTerms& terms,
                                     std::span<const FieldPair> pairs) {
  if (pairs.empty()) return {};
  const Lattice& lattice = pairs[0].a->lattice();
  PairSums here(lattice, terms, pairs);
  const std::size_t n_lists = pairs.size() * terms.momenta.size(), local_t = std::size_t(lattice.local()[3]),
                    global_t = std::size_t(lattice.global()[3]), first_t = std::size_t(lattice.origin()[3]);
  const std::size_t of_slice = n_kinds * 2;  // slots
  // Slots of the global time slices from those of this rank.
  const auto global_slot = [&](std::size_t slot) {
    const std::size_t slice = slot / of_slice;
    return ((slice / local_t * global_t) + first_t + slice % local_t) * of_slice + slot % of_slice;
  };
  const std::size_t n_local = n_lists * local_t * of_slice, n_global = n_lists * global_t * of_slice;
  std::vector<double> largest(n_global);
  const std::vector<double> mine = here.largest();
  for (std::size_t slot = 0; slot < n_local; ++slot) largest[global_slot(slot)] = mine[slot];
  communicator.max(largest);
  std::vector<SumGrid> grids, grids_here(n_local);
  for (const double bound : largest) grids.push_back(SumGrid::for_bound(bound));
  for (std::size_t slot = 0; slot < n_local; ++slot) grids_here[slot] = grids[global_slot(slot)];
  const std::vector<Limbs> limbs = here.totals(grids_here);
  std::vector<ExactPartial> partials(n_global);
  for (std::size_t slot = 0; slot < n_local; ++slot)
    partials[global_slot(slot)] = {(static_cast<__int128>(limbs[slot].high) << 42) + limbs[slot].low,
                                   limbs[slot].overflow != 0};
  std::vector<double> values(n_global);
  reduce(communicator, partials, grids, values);

  std::vector<KindSums> sums(n_lists);
  for (std::size_t list = 0; list < n_lists; ++list)
    for (std::size_t i = 0; i < global_t * n_kinds; ++i)
      for (std::size_t part = 0; part < 2; ++part)
        sums[list][part].push_back(values[(list * global_t * n_kinds + i) * 2 + part]);
  return sums;
}

bool cuda_kind_sums_hold(const Lattice& lattice) {
  std::int64_t sites = 1;
  for (int i = 0; i < 3; ++i) sites *= (lattice.local()[i] + 1) / 2;
  return sites <= 1 << 20;
}

}  // namespace staghorn
