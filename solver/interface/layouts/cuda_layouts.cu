// One thread a site, or a link. Bytes: a vector is read and written once, 48 or 24 and 48 bytes a site. Links likewise,
// 576 or 288 and 576.
#include "halo/cuda/cuda_check.hpp"
#include "halo/cuda/cuda_device.hpp"
#include "solver/interface/layouts/cuda_layouts.hpp"

namespace staghorn {

namespace {

constexpr int threads = 128;
unsigned blocks_for(std::int64_t items) { return unsigned((items + threads - 1) / threads); }

struct Geometry {
  Extents local;
  Coordinates origin;

  __device__ __forceinline__ Coordinates coordinates(std::uint32_t site) const {
    Coordinates x{};
#pragma unroll
    for (int mu = 0; mu < 4; ++mu) {
      x[mu] = int(site % std::uint32_t(local[mu]));
      site /= std::uint32_t(local[mu]);
    }
    return x;
  }
  __device__ __forceinline__ Coordinates global(const Coordinates& x) const {
    return {x[0] + origin[0], x[1] + origin[1], x[2] + origin[2], x[3] + origin[3]};
  }
};
Geometry geometry_of(const Lattice& lattice) { return {lattice.local(), lattice.origin()}; }

// What the kernels of vectors need of a site.
struct VectorTask {
  VectorPlaces places;
  SiteSigns signs;
  Geometry geometry;
  int parity;  // -1: all sites
  std::uint32_t sites;
};

__device__ __forceinline__ bool is_wanted(const VectorTask& task, const Coordinates& x) {
  return task.parity < 0 || parity_number(x) == task.parity;
}

template <class Real>
__global__ void __launch_bounds__(threads)
    read_vector_kernel(const __grid_constant__ VectorTask task, const char* host, ColorVector<double>* out) {
  const std::uint32_t site = blockIdx.x * threads + threadIdx.x;
  if (site >= task.sites) return;
  const Coordinates x = task.geometry.coordinates(site);
  if (!is_wanted(task, x)) return;
  const Real* const reals = reinterpret_cast<const Real*>(host + task.places.of(x));
  const double factor = 1 / task.signs.at(site, task.geometry.global(x));
#pragma unroll
  for (int c = 0; c < 3; ++c) out[site].c[c] = {factor * double(reals[2 * c]), factor * double(reals[2 * c + 1])};
}

template <class Real>
__global__ void __launch_bounds__(threads)
    write_vector_kernel(const __grid_constant__ VectorTask task, const ColorVector<double>* in, char* host) {
  const std::uint32_t site = blockIdx.x * threads + threadIdx.x;
  if (site >= task.sites) return;
  const Coordinates x = task.geometry.coordinates(site);
  if (!is_wanted(task, x)) return;
  Real* const reals = reinterpret_cast<Real*>(host + task.places.of(x));
  const double factor = task.signs.at(site, task.geometry.global(x));
#pragma unroll
  for (int c = 0; c < 3; ++c) {
    reals[2 * c] = Real(factor * in[site].c[c].re);
    reals[2 * c + 1] = Real(factor * in[site].c[c].im);
  }
}

VectorTask task_of(const HostVectors& layout, const VectorSigns& signs, std::optional<Parity> sites,
                   const Lattice& lattice) {
  return {places_of(layout, lattice.local()), signs.view(MemorySpace::cuda), geometry_of(lattice),
          sites ? int(*sites) : -1, std::uint32_t(lattice.local_volume())};
}

// What the kernel of links needs.
struct LinkTask {
  LinkView links;
  Geometry geometry;
  const char* host[4];
  std::uint32_t sites;
};

// Links of a block leave together, as their places in `out` are.
template <class Real>
__global__ void __launch_bounds__(threads)
    read_links_kernel(const __grid_constant__ LinkTask task, ColorMatrix<double>* out) {
  constexpr int words = sizeof(ColorMatrix<double>) / sizeof(double2);
  __shared__ double2 word[words * threads];
  const std::uint32_t site = blockIdx.x * (threads / 4) + threadIdx.x / 4;
  const int mu = int(threadIdx.x % 4);
  if (site < task.sites) {
    const Coordinates x = task.geometry.coordinates(site);
    const char* const from = task.host[task.links.buffer(mu)] + task.links.place(mu, x);
    const Real* const reals = reinterpret_cast<const Real*>(from);
    ColorMatrix<double> u;
#pragma unroll
    for (int i = 0; i < 9; ++i) u.e[i / 3][i % 3] = {double(reals[2 * i]), double(reals[2 * i + 1])};
    u = task.links.turned(u);
    multiply(u, task.links.sign(mu, task.geometry.global(x)));
#pragma unroll
    for (int i = 0; i < 9; ++i)
      word[words * threadIdx.x + i] = make_double2(u.e[i / 3][i % 3].re, u.e[i / 3][i % 3].im);
  }
  __syncthreads();
  const std::uint32_t first = blockIdx.x * (threads / 4);
  const int here = 4 * words * int(min(std::uint32_t(threads / 4), task.sites - first));
  double2* const to = reinterpret_cast<double2*>(out) + std::size_t(first) * 4 * words;
  for (int k = int(threadIdx.x); k < here; k += threads) to[k] = word[k];
}

}  // namespace

void cuda_read_links(const HostLinks& layout, const std::array<const void*, 4>& host, LinkField& out) {
  const Lattice& lattice = out.lattice();
  LinkTask task = {view_of(layout, lattice), geometry_of(lattice), {}, std::uint32_t(lattice.local_volume())};
  for (int mu = 0; mu < 4; ++mu) task.host[mu] = static_cast<const char*>(host[std::size_t(mu)]);
  auto* const to = reinterpret_cast<ColorMatrix<double>*>(out.data());
  const unsigned blocks = (task.sites + threads / 4 - 1) / (threads / 4);
  if (layout.real == HostReal::fp64)
    read_links_kernel<double><<<blocks, threads>>>(task, to);
  else
    read_links_kernel<float><<<blocks, threads>>>(task, to);
  STAGHORN_CUDA_CHECK_LAUNCH(read_links_kernel);
  STAGHORN_CUDA_CHECK(cudaStreamSynchronize(nullptr));
}

void cuda_read_vector(const HostVectors& layout, const VectorSigns& signs, std::optional<Parity> sites,
                      const void* host, VectorField& out) {
  const VectorTask task = task_of(layout, signs, sites, out.lattice());
  const char* const bytes = static_cast<const char*>(host);
  if (layout.real == HostReal::fp64)
    read_vector_kernel<double><<<blocks_for(task.sites), threads>>>(task, bytes, out.data());
  else
    read_vector_kernel<float><<<blocks_for(task.sites), threads>>>(task, bytes, out.data());
  STAGHORN_CUDA_CHECK_LAUNCH(read_vector_kernel);
  STAGHORN_CUDA_CHECK(cudaStreamSynchronize(nullptr));
}

void cuda_write_vector(const HostVectors& layout, const VectorSigns& signs, std::optional<Parity> sites,
                       const VectorField& in, void* host) {
  const VectorTask task = task_of(layout, signs, sites, in.lattice());
  char* const bytes = static_cast<char*>(host);
  if (layout.real == HostReal::fp64)
    write_vector_kernel<double><<<blocks_for(task.sites), threads>>>(task, in.data(), bytes);
  else
    write_vector_kernel<float><<<blocks_for(task.sites), threads>>>(task, in.data(), bytes);
  STAGHORN_CUDA_CHECK_LAUNCH(write_vector_kernel);
  STAGHORN_CUDA_CHECK(cudaStreamSynchronize(nullptr));
}

}  // namespace staghorn
