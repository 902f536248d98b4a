// Flops and bytes per site of a residual: 570 + 24 flops, 576 bytes of links, 48 each of x, b and r. Improved quarks:
// 1146 + 24 flops and 1152 bytes of links.
#include <vector>

#include "dirac/operators/cuda_plain_operator.hpp"
#include "dirac/operators/plain_operator.hpp"
#include "dirac/operators/plain_site.hpp"
#include "halo/cuda/cuda_check.hpp"
#include "halo/watch/activity.hpp"

namespace staghorn {

namespace {

using Vector = ColorVector<double>;

constexpr int sites_of_block = 64, threads = 3 * sites_of_block;  // a thread for each colour
unsigned blocks_for(std::int64_t sites) { return unsigned((sites + sites_of_block - 1) / sites_of_block); }

// Of this thread.
__device__ __forceinline__ std::uint32_t my_item() { return blockIdx.x * sites_of_block + threadIdx.x / 3; }
__device__ __forceinline__ int my_color() { return int(threadIdx.x % 3); }

// What becomes of D in(x): it is the result where b is null.
struct PlainResult {
  Vector* out;
  const Vector *b, *x;
  double alpha, beta;
};

// target: 0 or 1, or -1 for all sites.
__global__ void __launch_bounds__(threads)
    hop_kernel(const __grid_constant__ PlainHop hop, PlainResult result, int target, std::uint32_t items) {
  const std::uint32_t item = my_item();
  const int i = my_color();
  if (item >= items) return;
  std::uint32_t site = item;
  if (target >= 0) {  // pairs of neighbours along x have one site of each parity
    int x[4];
    plain_coordinates(hop, 2 * item, x);
    site = 2 * item + std::uint32_t(((x[0] + x[1] + x[2] + x[3]) & 1) != target);
  }
  const Complex<double> d = plain_hop_at(hop, site, i);
  result.out[site].c[i] =
      result.b ? plain_residual_at(result.b[site].c[i], result.alpha, result.x[site].c[i], result.beta, d) : d;
}

// What the rank behind reads ahead of it, or the rank ahead behind it.
__global__ void __launch_bounds__(threads)
    face_kernel(const __grid_constant__ PlainHop hop, int leg, bool last_slices, Vector* face, std::uint32_t items) {
  const std::uint32_t k = my_item();
  const int i = my_color();
  if (k >= items) return;
  const std::int64_t site = plain_face_site(hop, hop.legs[leg], last_slices, k);
  face[k].c[i] = last_slices ? plain_backward(hop, hop.legs[leg], site, i) : hop.in[site].c[i];
}

__global__ void __launch_bounds__(threads)
    milc_kernel(const __grid_constant__ PlainHop geometry, Vector* v, std::uint32_t sites) {
  const std::uint32_t site = my_item();
  if (site >= sites) return;
  int x[4];
  plain_coordinates(geometry, site, x);
  Coordinates global;
  for (int mu = 0; mu < 4; ++mu) global[mu] = geometry.origin[mu] + x[mu];
  if (milc_phase_sign(global) > 0) return;
  Complex<double>& number = v[site].c[my_color()];
  number = {-number.re, -number.im};
}

PlainHop geometry_of(const Lattice& lattice) {
  PlainHop hop;
  for (int mu = 0; mu < 4; ++mu) {
    hop.local[mu] = lattice.local()[mu];
    hop.origin[mu] = lattice.origin()[mu];
    hop.global[mu] = lattice.global()[mu];
  }
  return hop;
}

// A hop with the faces it reads.
class FacedHop {
 public:
  FacedHop(const Communicator& communicator, const OperatorLinks& links, const Boundary& boundary,
           const VectorField& in)
      : hop_(geometry_of(links.lattice())) {
    hop_.in = in.data();
    for (int mu = 0; mu < 4; ++mu) {
      hop_.crossing_phase[mu] = boundary_phase(boundary.theta[mu]);
      add_leg(mu, LinkSet::near, 1, links.near);
      if (links.naik) add_leg(mu, LinkSet::naik, links.naik_scale, *links.naik);
    }
    const Lattice& lattice = links.lattice();
    for (int l = 0; l < hop_.n_legs; ++l) {
      PlainLeg& leg = hop_.legs[l];
      if (lattice.grid()[leg.mu] == 1) continue;
      leg.ahead = exchange(communicator, lattice, l, +1);
      leg.behind = exchange(communicator, lattice, l, -1);
    }
  }

  void run(const Lattice& lattice, std::optional<Parity> target, const PlainResult& result) const {
    const std::uint32_t items = std::uint32_t(lattice.local_volume() / (target ? 2 : 1));
    hop_kernel<<<blocks_for(items), threads>>>(hop_, result, target ? int(*target) : -1, items);
    STAGHORN_CUDA_CHECK_LAUNCH(hop_kernel);
    STAGHORN_CUDA_CHECK(cudaStreamSynchronize(nullptr));
    made_progress();
  }

 private:
  void add_leg(int mu, LinkSet set, double weight, const LinkField& links) {
    const auto* first = reinterpret_cast<const ColorMatrix<double>*>(links.data()) + mu;
    hop_.legs[hop_.n_legs++] = {mu, steps_of(set), weight, first, 4};
  }

  // Returns the face that the neighbour in `direction` has for us, on the device.
  const Vector* exchange(const Communicator& communicator, const Lattice& lattice, int l, int direction) {
    const PlainLeg& leg = hop_.legs[l];
    const std::int64_t sites = leg.steps * (lattice.local_volume() / lattice.local()[leg.mu]);
    Buffer& face = faces_.emplace_back(std::size_t(sites) * sizeof(Vector), MemorySpace::cuda);
    Vector* const on_device = reinterpret_cast<Vector*>(face.data());
    face_kernel<<<blocks_for(sites), threads>>>(hop_, l, direction < 0, on_device, std::uint32_t(sites));
    STAGHORN_CUDA_CHECK_LAUNCH(face_kernel);
    std::vector<Vector> outgoing(static_cast<std::size_t>(sites));
    STAGHORN_CUDA_CHECK(cudaMemcpy(outgoing.data(), on_device, face.bytes(), cudaMemcpyDeviceToHost));
    const std::vector<Vector> incoming = exchange_face(communicator, lattice, leg.mu, direction, outgoing);
    STAGHORN_CUDA_CHECK(cudaMemcpy(on_device, incoming.data(), face.bytes(), cudaMemcpyHostToDevice));
    return on_device;
  }

  PlainHop hop_;
  std::vector<Buffer> faces_;
};

}  // namespace

void cuda_plain_hop(const Communicator& communicator, const OperatorLinks& links, const Boundary& boundary,
                    VectorField& out, const VectorField& in, std::optional<Parity> target) {
  FacedHop(communicator, links, boundary, in).run(links.lattice(), target, {out.data(), nullptr, nullptr, 0, 0});
}

void cuda_plain_subtract_hop(const Communicator& communicator, const OperatorLinks& links, const Boundary& boundary,
                             VectorField& out, const VectorField& in, std::optional<Parity> target,
                             const VectorField& b, double alpha, const VectorField& x, double beta) {
  FacedHop(communicator, links, boundary, in)
      .run(links.lattice(), target, {out.data(), b.data(), x.data(), alpha, beta});
}

void cuda_apply_milc_signs(VectorField& v) {
  const std::uint32_t sites = std::uint32_t(v.lattice().local_volume());
  milc_kernel<<<blocks_for(sites), threads>>>(geometry_of(v.lattice()), v.data(), sites);
  STAGHORN_CUDA_CHECK_LAUNCH(milc_kernel);
  STAGHORN_CUDA_CHECK(cudaStreamSynchronize(nullptr));
}

}  // namespace staghorn
