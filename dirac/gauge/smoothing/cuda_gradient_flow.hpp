// The gradient flow, and what is measured along it, on links that live on a GPU, with the bits of the host
// (gradient_flow.hpp, field_strength.hpp, gauge_loops.hpp). In a build without CUDA the constructor throws.
#pragma once

#include <complex>
#include <memory>

#include "dirac/gauge/gauge_observables.hpp"
#include "dirac/gauge/smoothing/field_strength.hpp"
#include "dirac/gauge/smoothing/gradient_flow.hpp"

namespace staghorn {

// The links of a rank on the selected GPU, in a box with rims of one site (Wilson) or two in each direction that is
// cut, corners included. Before each stage of a step rims travel through the memory of the host.
class CudaGradientFlow {
 public:
  // Copies `links` to the GPU. Throws Error where they do not fit. Collective.
  CudaGradientFlow(const Communicator& communicator, const LinkField& links, const FlowAction& action);
  ~CudaGradientFlow();

  // As those of GradientFlow. Collective.
  void runge_kutta_step(const Communicator& communicator, double step) {
    runge_kutta_stages(step,
                       [&](double weight_of_sum, double weight) { advance(communicator, weight_of_sum, weight); });
  }
  void euler_step(const Communicator& communicator, double step) { advance(communicator, 0, step); }

  // Of the links as they are. Collective.
  Plaquette plaquette(const Communicator& communicator);
  std::complex<double> polyakov_loop(const Communicator& communicator);
  FieldStrength field_strength(const Communicator& communicator);

  // Local.
  void copy_to_host(LinkField& links);
  // What it takes on this rank's GPU. Local.
  static double bytes(const Lattice& lattice, const FlowAction& action);

 private:
  void advance(const Communicator& communicator, double weight_of_sum, double weight);

  Lattice lattice_;
  FlowAction action_;
  struct OnDevice;
  std::unique_ptr<OnDevice> device_;
};

}  // namespace staghorn
