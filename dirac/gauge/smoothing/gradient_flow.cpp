#include "dirac/gauge/smoothing/gradient_flow.hpp"

#include "dirac/gauge/smoothing/cuda_gradient_flow.hpp"
#include "dirac/gauge/smoothing/site_slabs.hpp"
#include "halo/watch/error.hpp"

namespace staghorn {

namespace {

using Forces = std::array<AntiHermitian, 4>;

STAGHORN_FMA_CLONES
void add_forces(const Rims& rims, const LinkView& u, const FlowAction& action, double weight_of_sum, double weight,
                Forces* sum, SiteSlab slab) {
  for (std::int64_t x = slab.begin; x < slab.end; ++x) {
    const std::int64_t place = rims.place(x);
    for (int mu = 0; mu < action.directions; ++mu)
      combine(sum[x][std::size_t(mu)], weight_of_sum, weight, flow_force(u, place, mu, action));
  }
}

STAGHORN_FMA_CLONES
void move_links(const Forces* sum, std::size_t directions, LinkField& links, SiteSlab slab) {
  for (std::int64_t x = slab.begin; x < slab.end; ++x)
    for (std::size_t mu = 0; mu < directions; ++mu) links[x][mu] = exponential(sum[x][mu]) * links[x][mu];
}

}  // namespace

GradientFlow::GradientFlow(const Lattice& lattice, const FlowAction& action)
    : action_(action), rims_(lattice, action.rectangle == 0 ? 1 : 2), sum_(lattice) {}

void GradientFlow::advance(const Communicator& communicator, LinkField& links, double weight_of_sum, double weight) {
  {
    const RimmedLinks rimmed(communicator, rims_, links);
    for_slabs(links.size(), [&](SiteSlab slab) {
      add_forces(rims_, rimmed.view(), action_, weight_of_sum, weight, sum_.data(), slab);
    });
  }
  for_slabs(links.size(),
            [&](SiteSlab slab) { move_links(sum_.data(), std::size_t(action_.directions), links, slab); });
}

void GradientFlow::runge_kutta_step(const Communicator& communicator, LinkField& links, double step) {
  runge_kutta_stages(step,
                     [&](double weight_of_sum, double weight) { advance(communicator, links, weight_of_sum, weight); });
}

void GradientFlow::euler_step(const Communicator& communicator, LinkField& links, double step) {
  advance(communicator, links, 0, step);
}

#ifndef STAGHORN_CUDA
struct CudaGradientFlow::OnDevice {};
CudaGradientFlow::CudaGradientFlow(const Communicator&, const LinkField& links, const FlowAction& action)
    : lattice_(links.lattice()), action_(action) {
  throw Error("this build of Staghorn has no gradient flow on GPUs");
}
CudaGradientFlow::~CudaGradientFlow() = default;
void CudaGradientFlow::advance(const Communicator&, double, double) {}
Plaquette CudaGradientFlow::plaquette(const Communicator&) { return {}; }
std::complex<double> CudaGradientFlow::polyakov_loop(const Communicator&) { return {}; }
FieldStrength CudaGradientFlow::field_strength(const Communicator&) { return {}; }
void CudaGradientFlow::copy_to_host(LinkField&) {}
double CudaGradientFlow::bytes(const Lattice&, const FlowAction&) { return 0; }
#endif

}  // namespace staghorn
