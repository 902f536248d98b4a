// Smearing on the GPU: a thread makes a matrix of one site. Each sum of staples is finished in registers and written
// once:
//
//   inner_c  = five U_mu + S_c(seven U_mu)          for the three directions c
//   middle_a = three U_mu + sum_b S_b(inner_c)      a, b, c, mu all different
//   F_mu     = one U_mu + sum_a { S_a(middle_a) + Lepage's path in a }
//
// This is the nested sum of improved_links.cpp with the same terms in the same order; inner_c serves both of its a.
// Flops: 864 a staple, 12 staples a link, and 1728 for Lepage's path; a projection 2500.
#include <algorithm>
#include <bit>
#include <optional>

#include "dirac/gauge/cuda_improved_links.hpp"
#include "dirac/gauge/cuda_link_box.cuh"
#include "dirac/gauge/plaquette_paths.hpp"
#include "dirac/gauge/unitary_projection.hpp"
#include "halo/watch/stopwatch.hpp"

namespace staghorn {

namespace cuda {

namespace {

// weight U_mu, in place of a field.
struct ScaledLinks {
  MatrixView links;
  double weight;
  __device__ __forceinline__ Matrix operator[](int site) const { return scaled_link(weight, links[site]); }
};

// sum += U_nu(x) m(x+nu) U_nu(x+mu)^dagger
template <class Field>
__device__ __forceinline__ void add_staple_ahead(const LinkBox& u, const Field& m, int mu, int nu, int x, Matrix& sum) {
  add_path_ahead(sum, u.links[nu][x], m[u.box.step(x, nu, true)], u.links[nu][u.box.step(x, mu, true)]);
}

// sum += U_nu(x-nu)^dagger m(x-nu) U_nu(x-nu+mu)
template <class Field>
__device__ __forceinline__ void add_staple_behind(const LinkBox& u, const Field& m, int mu, int nu, int x,
                                                  Matrix& sum) {
  const int y = u.box.step(x, nu, false);
  add_path(sum, path_behind(u.links[nu][y], m[y], u.links[nu][u.box.step(y, mu, true)]));
}

template <class Field>
__device__ __forceinline__ void add_staples(const LinkBox& u, const Field& m, int mu, int nu, int x, Matrix& sum) {
  add_staple_ahead(u, m, mu, nu, x, sum);
  add_staple_behind(u, m, mu, nu, x, sum);
}

// Half of Lepage's path: a staple in nu around a staple in nu, computed on the spot.
struct StapleAhead {
  const LinkBox& u;
  ScaledLinks m;
  int mu, nu;
  __device__ __forceinline__ Matrix operator[](int x) const {
    Matrix sum{};
    add_staple_ahead(u, m, mu, nu, x, sum);
    return sum;
  }
};
struct StapleBehind {
  const LinkBox& u;
  ScaledLinks m;
  int mu, nu;
  __device__ __forceinline__ Matrix operator[](int x) const {
    Matrix sum{};
    add_staple_behind(u, m, mu, nu, x, sum);
    return sum;
  }
};

// Sums of staples of the directions other than mu are numbered 0, 1, 2.
__device__ __forceinline__ int direction_of(int number, int mu) { return number + (number >= mu); }

__global__ void __launch_bounds__(threads, 3)
    inner_kernel(const __grid_constant__ LinkBox u, int mu, SmearingWeights weights, MatrixViews inner) {
  const unsigned x = blockIdx.x / 3 * threads + threadIdx.x;
  const int number = int(blockIdx.x % 3);
  if (x >= u.box.sites) return;
  Matrix sum = scaled_link(weights.five, u.links[mu][int(x)]);
  add_staples(u, ScaledLinks{u.links[mu], weights.seven}, mu, direction_of(number, mu), int(x), sum);
  inner[number].store(int(x), sum);
}

__global__ void __launch_bounds__(threads, 3)
    middle_kernel(const __grid_constant__ LinkBox u, int mu, SmearingWeights weights, MatrixViews inner,
                  MatrixViews middle) {
  const unsigned x = blockIdx.x / 3 * threads + threadIdx.x;
  const int number = int(blockIdx.x % 3);
  if (x >= u.box.sites) return;
  Matrix sum = scaled_link(weights.three, u.links[mu][int(x)]);
#pragma unroll 1
  for (int b = 0; b < 3; ++b)
    if (b != number) add_staples(u, inner[3 - number - b], mu, direction_of(b, mu), int(x), sum);
  middle[number].store(int(x), sum);
}

// Of this rank's sites. `fat`: of these alone.
__global__ void __launch_bounds__(threads, 2)
    outer_kernel(const __grid_constant__ LinkBox u, int mu, SmearingWeights weights, MatrixViews middle,
                 MatrixView fat) {
  const unsigned site = blockIdx.x * threads + threadIdx.x;
  if (site >= u.box.local_sites) return;
  const int x = int(u.box.place(site));
  Matrix sum = scaled_link(weights.one, u.links[mu][x]);
#pragma unroll 1
  for (int number = 0; number < 3; ++number) {
    const int a = direction_of(number, mu);
    add_staples(u, middle[number], mu, a, x, sum);
    if (weights.lepage == 0) continue;
    const ScaledLinks link{u.links[mu], weights.lepage};
    add_staple_ahead(u, StapleAhead{u, link, mu, a}, mu, a, x, sum);
    add_staple_behind(u, StapleBehind{u, link, mu, a}, mu, a, x, sum);
  }
  Matrix result{};
  add_path(result, sum);
  fat.store(int(site), result);
}

__global__ void __launch_bounds__(threads) naik_kernel(const __grid_constant__ LinkBox u, int mu, MatrixView naik) {
  const unsigned site = blockIdx.x * threads + threadIdx.x;
  if (site >= u.box.local_sites) return;
  const int x = int(u.box.place(site)), ahead = u.box.step(x, mu, true);
  naik.store(int(site), u.links[mu][x] * (u.links[mu][ahead] * u.links[mu][u.box.step(ahead, mu, true)]));
}

// What projections met: bits of positive doubles, which are ordered as the numbers are; all ones at first.
struct Found {
  unsigned long long singular, determinant, bad_link;
};

__device__ __forceinline__ unsigned long long smallest_of_warp(unsigned long long value) {
#pragma unroll
  for (int other = 16; other > 0; other /= 2) value = min(value, __shfl_xor_sync(0xffffffffu, value, other));
  return value;
}

// W from V, a thread a link; V stays.
__global__ void __launch_bounds__(threads)
    project_kernel(MatrixViews v, bool special, const __grid_constant__ LinkBox w, Found* found) {
  const unsigned site = blockIdx.x * threads + threadIdx.x;
  const int mu = int(blockIdx.y);
  Found met{~0ull, ~0ull, ~0ull};
  if (site < w.box.local_sites) {
    const UnitaryProjection p = project_unitary(v[mu][int(site)]);
    met.singular = (unsigned long long)__double_as_longlong(p.singular[2]);
    met.determinant = (unsigned long long)__double_as_longlong(p.singular[0] * p.singular[1] * p.singular[2]);
    if (!(p.singular[2] > 0)) met.bad_link = 4ull * site + unsigned(mu);
    w.links[mu].store(int(w.box.place(site)), special ? without_determinant_phase(p.unitary) : p.unitary);
  }
  met.singular = smallest_of_warp(met.singular);
  met.determinant = smallest_of_warp(met.determinant);
  met.bad_link = smallest_of_warp(met.bad_link);
  if (threadIdx.x % 32 != 0) return;
  atomicMin(&found->singular, met.singular);
  atomicMin(&found->determinant, met.determinant);
  if (met.bad_link != ~0ull) atomicMin(&found->bad_link, met.bad_link);
}

// fat = the weighted sum of paths around each link of this rank.
void smear(const Communicator& communicator, const LinkBox& u, const SmearingWeights& weights, Matrices& fat) {
  Matrices inner(communicator, u.box.sites, 3), middle(communicator, u.box.sites, 3);
  for (int mu = 0; mu < 4; ++mu) {
    inner_kernel<<<3 * blocks_for(u.box.sites), threads>>>(u, mu, weights, inner.views());
    STAGHORN_CUDA_CHECK_LAUNCH(inner_kernel);
    middle_kernel<<<3 * blocks_for(u.box.sites), threads>>>(u, mu, weights, inner.views(), middle.views());
    STAGHORN_CUDA_CHECK_LAUNCH(middle_kernel);
    outer_kernel<<<blocks_for(u.box.local_sites), threads>>>(u, mu, weights, middle.views(), fat.view(mu));
    STAGHORN_CUDA_CHECK_LAUNCH(outer_kernel);
  }
  synchronize();
}

void multiply_three(const LinkBox& u, Matrices& naik) {
  for (int mu = 0; mu < 4; ++mu) {
    naik_kernel<<<blocks_for(u.box.local_sites), threads>>>(u, mu, naik.view(mu));
    STAGHORN_CUDA_CHECK_LAUNCH(naik_kernel);
  }
  synchronize();
}

// W = V projected. Returns what was met on this rank.
ProjectionExtremes project(Matrices& v, Unitarize unitarize, const LinkBox& w) {
  Buffer place(sizeof(Found), MemorySpace::cuda);
  Found met{~0ull, ~0ull, ~0ull};
  copy_to_device(place.data(), &met, sizeof met);
  project_kernel<<<dim3(blocks_for(w.box.local_sites), 4), threads>>>(v.views(), unitarize == Unitarize::su3, w,
                                                                      reinterpret_cast<Found*>(place.data()));
  STAGHORN_CUDA_CHECK_LAUNCH(project_kernel);
  copy_to_host(&met, place.data(), sizeof met);
  ProjectionExtremes result;
  result.singular = std::min(result.singular, std::bit_cast<double>(met.singular));
  result.determinant = std::min(result.determinant, std::bit_cast<double>(met.determinant));
  if (met.bad_link == ~0ull) return result;
  result.bad_link = std::int64_t(met.bad_link);
  Matrix bad[4];
  Buffer four(sizeof bad, MemorySpace::cuda);
  gather_kernel<<<dim3(1, 4), threads>>>(v.views(), reinterpret_cast<Matrix*>(four.data()), unsigned(met.bad_link / 4),
                                         1);
  STAGHORN_CUDA_CHECK_LAUNCH(gather_kernel);
  copy_to_host(bad, four.data(), sizeof bad);
  const UnitaryProjection p = project_unitary(bad[met.bad_link % 4]);
  std::copy(p.singular, p.singular + 3, result.bad);
  return result;
}

constexpr int rim_of_first_level = 1, rim_of_second_level = 2;  // Lepage's path and Naik links reach two sites

}  // namespace

}  // namespace cuda

double cuda_improved_links_bytes(const Lattice& lattice) {
  const cuda::Box box = cuda::box_of(lattice, cuda::rim_of_second_level);
  return double(sizeof(cuda::Matrix)) * ((4 + 3 + 3) * double(box.sites) + 4 * double(box.local_sites));
}

ImprovedLinks cuda_improved_links(const Communicator& communicator, const LinkField& thin,
                                  const std::optional<Unitarize>& first_level, const SmearingWeights& weights,
                                  double naik_weight) {
  const Lattice& lattice = thin.lattice();
  ImprovedLinks made{LinkField(lattice), LinkField(lattice), naik_weight};
  const auto timed = [&](const auto& work) {
    const Stopwatch working;
    work();
    made.device_seconds += working.seconds();
  };
  PinnedPieces pieces;
  cuda::Matrices result(communicator, unsigned(lattice.local_volume()), 4);
  std::optional<cuda::BoxOfLinks> links;
  links.emplace(communicator, lattice, first_level ? cuda::rim_of_first_level : cuda::rim_of_second_level);
  cuda::send(pieces, thin, links->view());
  if (first_level) {
    timed([&] {
      cuda::fill_rims(communicator, lattice, links->view());
      cuda::smear(communicator, links->view(), fat7_weights(), result);
    });
    links.reset();
    links.emplace(communicator, lattice, cuda::rim_of_second_level);
    timed([&] {
      const ProjectionReport report =
          agree_on_projection(communicator, lattice, cuda::project(result, *first_level, links->view()));
      made.smallest_singular = report.smallest_singular;
      made.smallest_determinant = report.smallest_determinant;
    });
  }
  timed([&] {
    cuda::fill_rims(communicator, lattice, links->view());
    cuda::smear(communicator, links->view(), weights, result);
  });
  cuda::receive(pieces, result, made.fat);
  timed([&] { cuda::multiply_three(links->view(), result); });
  cuda::receive(pieces, result, made.naik);
  return made;
}

}  // namespace staghorn
