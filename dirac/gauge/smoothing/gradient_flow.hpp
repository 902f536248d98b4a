// The gradient flow of the links, dU/dt = Z(U) U [Luescher, arXiv:1006.4518], and stout smearing, which is its Euler
// step [Morningstar & Peardon, hep-lat/0311018].
#pragma once

#include <array>

#include "dirac/gauge/smoothing/link_paths.hpp"
#include "dirac/gauge/smoothing/rimmed_links.hpp"

namespace staghorn {

// One step of Luescher's third-order Runge-Kutta method: calls advance(weight_of_sum, weight) for each of its stages,
// sum = weight Z(U) + weight_of_sum sum, U = exp(sum) U.
//
// W1 = exp(1/4 Z0) W0,  W2 = exp(8/9 Z1 - 17/36 Z0) W1,  W3 = exp(3/4 Z2 - 8/9 Z1 + 17/36 Z0) W2,  Zi = step Z(Wi):
// each exponent is made from the one before.
template <class Advance>
void runge_kutta_stages(double step, const Advance& advance) {
  advance(0, step / 4);
  advance(-17. / 9, 8 * step / 9);
  advance(-1, 3 * step / 4);
}

// The longest step for which that method is stable: on free fields links relax at rates up to 16 times the weight of
// the action's plaquettes, and 1 - z + z^2/2 - z^3/6 is within -1 ... 1 up to z = 2.5127. With a longer one the links
// do not become smooth.
constexpr double longest_stable_step(const FlowAction& action) { return 2.5127 / (16 * action.plaquette); }

// The flow of one action on one lattice. Takes 288 bytes a site, and for links of neighbours 576 more where the lattice
// is cut. Every link is computed in one order: the same bits on every process grid and number of threads. fp64.
class GradientFlow {
 public:
  // Local.
  GradientFlow(const Lattice& lattice, const FlowAction& action);

  // Lets `links` flow by `step`, in units of a^2, by the third-order Runge-Kutta method of the paper (appendix C). The
  // error of one step is of order step^4. Collective.
  void runge_kutta_step(const Communicator& communicator, LinkField& links, double step);
  // U = exp(step Z) U. With Wilson's action a step of stout smearing with rho = step. Collective.
  void euler_step(const Communicator& communicator, LinkField& links, double step);

  const Rims& rims() const { return rims_; }

 private:
  // sum = weight Z(U) + weight_of_sum sum;  U = exp(sum) U
  void advance(const Communicator& communicator, LinkField& links, double weight_of_sum, double weight);

  FlowAction action_;
  Rims rims_;
  SiteField<std::array<AntiHermitian, 4>> sum_;
};

}  // namespace staghorn
