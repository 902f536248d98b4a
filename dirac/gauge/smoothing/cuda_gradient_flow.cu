// The gradient flow on the GPU. What happens to a link or at a site is link_paths.hpp and su3_algebra.hpp, as on the
// CPU; a thread has one link, or one site of what is measured.

#include <span>

#include "dirac/fields/cuda_spill.cuh"
#include "dirac/gauge/cuda_link_box.cuh"
#include "dirac/gauge/smoothing/cuda_gradient_flow.hpp"
#include "dirac/gauge/smoothing/gauge_loops.hpp"
#include "dirac/gauge/smoothing/link_paths.hpp"

namespace staghorn {

namespace cuda {

namespace {

// A view of links in a box, for link_paths.hpp.
struct BoxView {
  const LinkBox& u;
  __device__ __forceinline__ Matrix link(std::int64_t x, int mu) const { return u.links[mu][int(x)]; }
  __device__ __forceinline__ std::int64_t ahead(std::int64_t x, int mu) const { return u.box.step(int(x), mu, true); }
  __device__ __forceinline__ std::int64_t behind(std::int64_t x, int mu) const { return u.box.step(int(x), mu, false); }
};

// The exponents of the links of this rank's sites: 9 reals, [real][direction][site].
struct SumView {
  double* data;
  unsigned sites;

  __device__ __forceinline__ double& real(int k, unsigned site, int mu) const {
    return data[(std::size_t(k) * 4 + unsigned(mu)) * sites + site];
  }
  __device__ __forceinline__ AntiHermitian load(unsigned site, int mu) const {
    AntiHermitian a;
#pragma unroll
    for (int k = 0; k < 3; ++k) {
      a.diagonal[k] = real(k, site, mu);
      a.upper[k] = {real(3 + 2 * k, site, mu), real(4 + 2 * k, site, mu)};
    }
    return a;
  }
  __device__ __forceinline__ void store(unsigned site, int mu, const AntiHermitian& a) const {
#pragma unroll
    for (int k = 0; k < 3; ++k) {
      real(k, site, mu) = a.diagonal[k];
      real(3 + 2 * k, site, mu) = a.upper[k].re;
      real(4 + 2 * k, site, mu) = a.upper[k].im;
    }
  }
};

// sum = weight Z(U) + weight_of_sum sum. Without rectangles the paths take fewer registers.
template <bool rectangles>
__global__ void __launch_bounds__(threads, rectangles ? 2 : 3)
    force_kernel(const __grid_constant__ LinkBox u, double plaquette, double rectangle, int directions,
                 double weight_of_sum, double weight, SumView sum) {
  STAGHORN_SPILL_TO_SHARED_MEMORY;
  const unsigned site = blockIdx.x * threads + threadIdx.x;
  const int mu = int(blockIdx.y);
  if (site >= u.box.local_sites) return;
  const FlowAction action{plaquette, rectangles ? rectangle : 0, directions};
  const AntiHermitian z = flow_force(BoxView{u}, u.box.place(site), mu, action);
  AntiHermitian a = sum.load(site, mu);
  combine(a, weight_of_sum, weight, z);
  sum.store(site, mu, a);
}

// U = exp(sum) U
__global__ void __launch_bounds__(threads, 3) move_kernel(const __grid_constant__ LinkBox u, SumView sum) {
  STAGHORN_SPILL_TO_SHARED_MEMORY;
  const unsigned site = blockIdx.x * threads + threadIdx.x;
  const int mu = int(blockIdx.y);
  if (site >= u.box.local_sites) return;
  const int x = int(u.box.place(site));
  u.links[mu].store(x, exponential(sum.load(site, mu)) * u.links[mu][x]);
}

// What each site adds: of plaquettes in space and with time (0, 1), of F^2 likewise and of the charge (2, 3, 4).
__global__ void __launch_bounds__(threads, 2) measure_kernel(const __grid_constant__ LinkBox u, double* values) {
  STAGHORN_SPILL_TO_SHARED_MEMORY;
  const unsigned site = blockIdx.x * threads + threadIdx.x;
  if (site >= u.box.local_sites) return;
  const BoxView view{u};
  const std::int64_t x = u.box.place(site);
  double space = 0, time = 0;
#pragma unroll 1
  for (int mu = 0; mu < 3; ++mu)
#pragma unroll 1
    for (int nu = mu + 1; nu < 4; ++nu)
      (nu == 3 ? time : space) += real_trace_plaquette(view.link(x, mu), view.link(view.ahead(x, mu), nu),
                                                       view.link(x, nu), view.link(view.ahead(x, nu), mu));
  const SiteFieldStrength field = site_field_strength(view, x);
  const double found[5] = {space, time, field.space, field.time, field.charge};
#pragma unroll
  for (int k = 0; k < 5; ++k) values[std::size_t(k) * u.box.local_sites + site] = found[k];
}

// product = U_t(0) U_t(1) ... product, a thread for each site of a time slice.
__global__ void __launch_bounds__(threads)
    line_kernel(const __grid_constant__ LinkBox u, Matrix* products, unsigned slice_sites) {
  const unsigned i = blockIdx.x * threads + threadIdx.x;
  if (i >= slice_sites) return;
  Matrix product = products[i];
#pragma unroll 1
  for (unsigned t = u.box.local[3]; t-- > 0;) product = u.links[3][int(u.box.place(i + t * slice_sites))] * product;
  products[i] = product;
}

// `count` sites from `first` on, from the box to the host's order.
__global__ void __launch_bounds__(threads)
    unbox_kernel(const __grid_constant__ LinkBox from, Matrix* to, unsigned first, unsigned count) {
  const unsigned i = blockIdx.x * threads + threadIdx.x;
  const int mu = int(blockIdx.y);
  if (i < count) to[4 * std::size_t(i) + unsigned(mu)] = from.links[mu][int(from.box.place(first + i))];
}

int rim_of(const FlowAction& action) { return action.rectangle == 0 ? 1 : 2; }

constexpr std::size_t reals_of_sum = 36, values_of_site = 5;

}  // namespace

}  // namespace cuda

struct CudaGradientFlow::OnDevice {
  OnDevice(const Communicator& communicator, const Lattice& lattice, const FlowAction& action)
      : links(communicator, lattice, cuda::rim_of(action)), sites(unsigned(lattice.local_volume())) {
    communicator.agree([&] {
      sum = Buffer(cuda::reals_of_sum * sites * sizeof(double), MemorySpace::cuda);
      values = Buffer(cuda::values_of_site * sites * sizeof(double), MemorySpace::cuda);
    });
  }

  cuda::SumView sum_view() { return {reinterpret_cast<double*>(sum.data()), sites}; }

  cuda::BoxOfLinks links;
  unsigned sites;
  Buffer sum, values;
  PinnedPieces pieces;
  bool rims_are_filled = false;
  std::vector<double> measured;  // values, on the host

  void fill_rims(const Communicator& communicator, const Lattice& lattice) {
    if (!rims_are_filled) cuda::fill_rims(communicator, lattice, links.view());
    rims_are_filled = true;
  }
  // Fills `measured` for the links as they are.
  void measure(const Communicator& communicator, const Lattice& lattice) {
    if (!measured.empty()) return;
    fill_rims(communicator, lattice);
    double* const on_device = reinterpret_cast<double*>(values.data());
    cuda::measure_kernel<<<cuda::blocks_for(sites), cuda::threads>>>(links.view(), on_device);
    STAGHORN_CUDA_CHECK_LAUNCH(measure_kernel);
    measured.resize(cuda::values_of_site * sites);
    cuda::copy_to_host(measured.data(), values.data(), values.bytes());
  }
  std::span<const double> value(std::size_t k) const { return {measured.data() + k * sites, sites}; }
};

CudaGradientFlow::CudaGradientFlow(const Communicator& communicator, const LinkField& links, const FlowAction& action)
    : lattice_(links.lattice()), action_(action), device_(std::make_unique<OnDevice>(communicator, lattice_, action)) {
  cuda::send(device_->pieces, links, device_->links.view());
  // The first stage multiplies what is there by zero.
  const std::vector<double> zeros(cuda::reals_of_sum * device_->sites);
  cuda::copy_to_device(device_->sum.data(), zeros.data(), device_->sum.bytes());
}

CudaGradientFlow::~CudaGradientFlow() = default;

void CudaGradientFlow::advance(const Communicator& communicator, double weight_of_sum, double weight) {
  device_->fill_rims(communicator, lattice_);
  const cuda::LinkBox u = device_->links.view();
  const dim3 grid(cuda::blocks_for(device_->sites), unsigned(action_.directions));
  const auto kernel = action_.rectangle == 0 ? cuda::force_kernel<false> : cuda::force_kernel<true>;
  kernel<<<grid, cuda::threads>>>(u, action_.plaquette, action_.rectangle, action_.directions, weight_of_sum, weight,
                                  device_->sum_view());
  STAGHORN_CUDA_CHECK_LAUNCH(force_kernel);
  cuda::move_kernel<<<grid, cuda::threads>>>(u, device_->sum_view());
  STAGHORN_CUDA_CHECK_LAUNCH(move_kernel);
  cuda::synchronize();
  device_->rims_are_filled = false;
  device_->measured.clear();
}

Plaquette CudaGradientFlow::plaquette(const Communicator& communicator) {
  device_->measure(communicator, lattice_);
  return mean_plaquette(communicator, lattice_, device_->value(0), device_->value(1));
}

FieldStrength CudaGradientFlow::field_strength(const Communicator& communicator) {
  device_->measure(communicator, lattice_);
  return mean_field_strength(communicator, lattice_, device_->value(2), device_->value(3), device_->value(4));
}

std::complex<double> CudaGradientFlow::polyakov_loop(const Communicator& communicator) {
  Buffer products(std::size_t(lattice_.local_volume() / lattice_.local()[3]) * sizeof(cuda::Matrix), MemorySpace::cuda);
  return staghorn::polyakov_loop(communicator, lattice_, [&](SliceProduct& product) {
    cuda::copy_to_device(products.data(), product.data(), products.bytes());
    const unsigned slice_sites = unsigned(product.size());
    cuda::line_kernel<<<cuda::blocks_for(slice_sites), cuda::threads>>>(
        device_->links.view(), reinterpret_cast<cuda::Matrix*>(products.data()), slice_sites);
    STAGHORN_CUDA_CHECK_LAUNCH(line_kernel);
    cuda::copy_to_host(product.data(), products.data(), products.bytes());
  });
}

void CudaGradientFlow::copy_to_host(LinkField& links) {
  const cuda::LinkBox u = device_->links.view();
  device_->pieces.receive<Links>(
      links.size(), 1,
      [&](Links* piece, std::int64_t first, std::int64_t count) {
        cuda::unbox_kernel<<<dim3(cuda::blocks_for(count), 4), cuda::threads>>>(u, piece->data(), unsigned(first),
                                                                                unsigned(count));
        STAGHORN_CUDA_CHECK_LAUNCH(unbox_kernel);
      },
      [&](const Links* piece, std::int64_t first, std::int64_t count) {
        std::copy(piece, piece + count, links.data() + first);
      });
}

double CudaGradientFlow::bytes(const Lattice& lattice, const FlowAction& action) {
  const cuda::Box box = cuda::box_of(lattice, cuda::rim_of(action));
  return double(sizeof(Links)) * double(box.sites) +
         double((cuda::reals_of_sum + cuda::values_of_site) * sizeof(double)) * double(box.local_sites);
}

}  // namespace staghorn
