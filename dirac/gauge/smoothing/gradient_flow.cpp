#include "dirac/gauge/smoothing/gradient_flow.hpp"

#include "dirac/gauge/smoothing/site_slabs.hpp"

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

// W1 = exp(1/4 Z0) W0,  W2 = exp(8/9 Z1 - 17/36 Z0) W1,  W3 = exp(3/4 Z2 - 8/9 Z1 + 17/36 Z0) W2,  Zi = step Z(Wi):
// each exponent is made from the one before.
void GradientFlow::runge_kutta_step(const Communicator& communicator, LinkField& links, double step) {
  advance(communicator, links, 0, step / 4);
  advance(communicator, links, -17. / 9, 8 * step / 9);
  advance(communicator, links, -1, 3 * step / 4);
}

void GradientFlow::euler_step(const Communicator& communicator, LinkField& links, double step) {
  advance(communicator, links, 0, step);
}

}  // namespace staghorn
