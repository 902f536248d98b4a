// The heatbath on the GPU: a thread updates one link, the links of one parity and direction in one launch. The update
// itself is link_update.hpp, as on the CPU.
#include <algorithm>
#include <limits>
#include <vector>

#include "dirac/fields/cuda_spill.cuh"
#include "dirac/fields/cuda_words.cuh"
#include "dirac/fields/step.hpp"
#include "dirac/gauge/cuda_heatbath.hpp"
#include "dirac/gauge/link_update.hpp"
#include "dirac/gauge/plaquette_paths.hpp"
#include "halo/cuda/cuda_check.hpp"
#include "halo/cuda/cuda_device.hpp"

namespace staghorn {

namespace cuda {

namespace {

using Matrix = ColorMatrix<double>;

constexpr int threads = 128;

enum class Update { heatbath, overrelaxation };

// Sites are lexicographic indices; each parity holds half of them, in the same order.
struct LinkView {
  double* links;
  int extents[4], strides[4];
  int half_volume;

  // The site number i among the sites of a parity.
  __device__ __forceinline__ int site(int i, int parity) const {
    int row = 2 * i / extents[0], odd = parity;
    for (int mu = 1; mu < 4; ++mu) {
      odd += row % extents[mu];
      row /= extents[mu];
    }
    return 2 * i + odd % 2;
  }

  __device__ __forceinline__ int ahead(int site, int mu) const {
    return stepped(site, strides[mu], extents[mu], true, wraps(site / strides[mu] % extents[mu], extents[mu], true));
  }

  __device__ __forceinline__ int behind(int site, int mu) const {
    return stepped(site, strides[mu], extents[mu], false, wraps(site / strides[mu] % extents[mu], extents[mu], false));
  }

  __device__ __forceinline__ double* direction(int parity, int mu) const {
    return links + (parity * 4 + mu) * 18LL * half_volume;
  }

  // U_mu at a site of this parity.
  __device__ __forceinline__ Matrix load(int parity, int site, int mu) const {
    double reals[18];
    load_object<18, Caching::plain>(direction(parity, mu), half_volume, site / 2, reals);
    Matrix u;
#pragma unroll
    for (int k = 0; k < 9; ++k) u.e[k / 3][k % 3] = {reals[2 * k], reals[2 * k + 1]};
    return u;
  }

  __device__ __forceinline__ void store(int parity, int site, int mu, const Matrix& u) const {
    double reals[18];
#pragma unroll
    for (int k = 0; k < 9; ++k) {
      reals[2 * k] = u.e[k / 3][k % 3].re;
      reals[2 * k + 1] = u.e[k / 3][k % 3].im;
    }
    store_object(direction(parity, mu), half_volume, site / 2, reals);
  }
};

LinkView view(const CudaLinkField& field) {
  LinkView result;
  result.links = const_cast<double*>(field.data());
  int stride = 1;
  for (int mu = 0; mu < 4; ++mu) {
    result.extents[mu] = field.lattice().local()[mu];
    result.strides[mu] = stride;
    stride *= result.extents[mu];
  }
  result.half_volume = stride / 2;
  return result;
}

// A thread for each site of one parity.
dim3 blocks(const LinkView& v, int y = 1) { return dim3((v.half_volume + threads - 1) / threads, y); }

// The sum of the paths around the six plaquettes of U_mu(x), in the CPU's order.
__device__ __forceinline__ Matrix sum_of_paths(const LinkView& v, int parity, int x, int mu) {
  Matrix path{};
  const int x_mu = v.ahead(x, mu);
#pragma unroll 1
  for (int nu = 0; nu < 4; ++nu) {
    if (nu == mu) continue;
    add_path_ahead(path, v.load(parity, x, nu), v.load(1 - parity, v.ahead(x, nu), mu), v.load(1 - parity, x_mu, nu));
    const int y = v.behind(x, nu);
    add_path(path,
             path_behind(v.load(1 - parity, y, nu), v.load(1 - parity, y, mu), v.load(parity, v.ahead(y, mu), nu)));
  }
  return path;
}

// At least three blocks must fit a multiprocessor. The compiler would choose more registers; two blocks would fit, and
// a sweep would take 9 % longer.
template <Update update>
__global__ void __launch_bounds__(threads, 3) update_kernel(const __grid_constant__ LinkView v, int parity, int mu,
                                                            double beta, std::uint64_t seed, std::uint32_t sweep) {
  STAGHORN_SPILL_TO_SHARED_MEMORY;
  const int i = int(blockIdx.x) * threads + int(threadIdx.x);
  if (i >= v.half_volume) return;
  const int x = v.site(i, parity);
  const Matrix path = sum_of_paths(v, parity, x, mu);
  Matrix u = v.load(parity, x, mu);
  if constexpr (update == Update::heatbath)
    heatbath_link(u, path, beta, seed, sweep, std::uint64_t(x), mu);
  else
    overrelax_link(u, path);
  v.store(parity, x, mu, u);
}

// Every link becomes f(link, site, mu).
template <class Function>
__global__ void __launch_bounds__(threads) transform_kernel(const __grid_constant__ LinkView v, Function f) {
  const int i = int(blockIdx.x) * threads + int(threadIdx.x), parity = int(blockIdx.y) / 4, mu = int(blockIdx.y) % 4;
  if (i >= v.half_volume) return;
  const int x = v.site(i, parity);
  v.store(parity, x, mu, f(v.load(parity, x, mu), x, mu));
}

template <class Function>
void transform(CudaLinkField& links, Function f) {
  const LinkView v = view(links);
  transform_kernel<<<blocks(v, 8), threads>>>(v, f);
  STAGHORN_CUDA_CHECK_LAUNCH(transform_kernel);
}

struct Unit {
  __device__ Matrix operator()(const Matrix&, int, int) const { return identity_matrix<double>(); }
};

struct Random {
  std::uint64_t seed;
  __device__ Matrix operator()(const Matrix&, int site, int mu) const {
    return random_link(seed, std::uint64_t(site), mu);
  }
};

struct Project {
  __device__ Matrix operator()(Matrix u, int, int) const {
    project_su3(u);
    return u;
  }
};

// What each site of one parity adds to the space-space and the space-time plaquettes.
__global__ void __launch_bounds__(threads)
    plaquette_kernel(const __grid_constant__ LinkView v, int parity, double* space, double* time) {
  const int i = int(blockIdx.x) * threads + int(threadIdx.x);
  if (i >= v.half_volume) return;
  const int x = v.site(i, parity);
  double sums[2] = {0, 0};
#pragma unroll 1
  for (int mu = 0; mu < 3; ++mu)
#pragma unroll 1
    for (int nu = mu + 1; nu < 4; ++nu) {
      const double trace = real_trace_plaquette(v.load(parity, x, mu), v.load(1 - parity, v.ahead(x, mu), nu),
                                                v.load(parity, x, nu), v.load(1 - parity, v.ahead(x, nu), mu));
      if (nu == 3)
        sums[1] += trace;
      else
        sums[0] += trace;
    }
  space[x] = sums[0];
  time[x] = sums[1];
}

// Links of `count` sites from `first` on, as the host holds them.
__global__ void __launch_bounds__(threads)
    gather_kernel(const __grid_constant__ LinkView v, int first, int count, Matrix* out) {
  const int i = int(blockIdx.x) * threads + int(threadIdx.x), mu = int(blockIdx.y);
  if (i >= count) return;
  const int x = first + i;
  int row = x, parity = 0;
  for (int nu = 0; nu < 4; ++nu) {
    parity += row % v.extents[nu];
    row /= v.extents[nu];
  }
  out[4LL * i + mu] = v.load(parity % 2, x, mu);
}

}  // namespace

}  // namespace cuda

CudaLinkField::CudaLinkField(const Lattice& lattice) : lattice_(lattice) {
  if (lattice.local() != lattice.global())
    throw Error("links on a GPU", "an uncut lattice", "grid " + to_string(lattice.grid()));
  if (lattice.local_volume() > std::numeric_limits<int>::max())
    throw Error("links on a GPU", "fewer than 2^31 sites", lattice.local_volume());
  buffer_ = Buffer(std::size_t(lattice.local_volume()) * sizeof(Links), MemorySpace::cuda);
}

void set_cold(CudaLinkField& links) { cuda::transform(links, cuda::Unit()); }
void set_hot(CudaLinkField& links, std::uint64_t seed) { cuda::transform(links, cuda::Random{seed}); }

void heatbath_sweep(const Communicator&, CudaLinkField& links, const HeatbathParameters& parameters,
                    std::uint32_t sweep) {
  check(parameters);
  const cuda::LinkView v = cuda::view(links);
  for (int step = 0; step <= parameters.overrelaxation_steps; ++step)
    for (int mu = 0; mu < 4; ++mu)
      for (int parity = 0; parity < 2; ++parity) {
        const auto kernel =
            step == 0 ? cuda::update_kernel<cuda::Update::heatbath> : cuda::update_kernel<cuda::Update::overrelaxation>;
        kernel<<<cuda::blocks(v), cuda::threads>>>(v, parity, mu, parameters.beta, parameters.seed, sweep);
        STAGHORN_CUDA_CHECK_LAUNCH(update_kernel);
      }
  cuda::transform(links, cuda::Project());
}

Plaquette plaquette(const Communicator& communicator, const CudaLinkField& links) {
  const cuda::LinkView v = cuda::view(links);
  const std::size_t n = std::size_t(links.lattice().local_volume());
  Buffer sums(2 * n * sizeof(double), MemorySpace::cuda);
  double* space = reinterpret_cast<double*>(sums.data());
  for (int parity = 0; parity < 2; ++parity)
    cuda::plaquette_kernel<<<cuda::blocks(v), cuda::threads>>>(v, parity, space, space + n);
  STAGHORN_CUDA_CHECK_LAUNCH(plaquette_kernel);
  std::vector<double> host(2 * n);
  cuda::copy_to_host(host.data(), space, sums.bytes());
  return mean_plaquette(communicator, links.lattice(), {host.data(), n}, {host.data() + n, n});
}

LinkField on_host(const CudaLinkField& links) {
  const cuda::LinkView v = cuda::view(links);
  LinkField result(links.lattice());
  constexpr std::int64_t chunk = 1 << 18;  // sites in flight: 151 MB
  Buffer staging(std::size_t(std::min(chunk, result.size())) * sizeof(Links), MemorySpace::cuda);
  for (std::int64_t first = 0; first < result.size(); first += chunk) {
    const int count = int(std::min(chunk, result.size() - first));
    cuda::gather_kernel<<<dim3((count + cuda::threads - 1) / cuda::threads, 4), cuda::threads>>>(
        v, int(first), count, reinterpret_cast<cuda::Matrix*>(staging.data()));
    STAGHORN_CUDA_CHECK_LAUNCH(gather_kernel);
    cuda::copy_to_host(result.data() + first, staging.data(), std::size_t(count) * sizeof(Links));
  }
  return result;
}

}  // namespace staghorn
