// With what a StaggeredOperator is made: plain data.
#pragma once

#include <string>

#include "dirac/algebra/precision.hpp"
#include "dirac/kernels/experiments/experiment.hpp"
#include "dirac/kernels/launch_choice.hpp"
#include "dirac/stencil/boundary.hpp"
#include "dirac/stencil/hop_cost.hpp"

namespace staghorn {

struct OperatorOptions {
  Boundary boundary;
  Precision precision = Precision::fp64;
  Reconstruct reconstruct = Reconstruct::none18;  // of thin links; fat links, not unitary, are none18 always
  // Of improved quarks. An operator takes the stencil from its links; estimates without links read it here.
  Stencil stencil = Stencil::naive;
  Reconstruct naik_reconstruct = Reconstruct::none18;  // none18 | u3_13 | u3_9; the last two hold unitary links only
  int n_rhs = 1;                                       // at most max_rhs (vector_shape.hpp)
  int cuda_device = -1;                                // >= 0: on that GPU; -1: on the CPU
  std::string instruction_set = "auto";                // a name of cpu_kernels(); the result never depends on it
  bool overlap = true;                                 // faces travel while interior sites are computed
  std::string transport = "auto";  // between ranks: the fastest (halo/transport/transport_choice.hpp), or that name
  Tuning tuning = Tuning::on;      // of launches on a GPU (launch_tuning.hpp); the result never depends on it
  bool host_loop = false;  // no loop runs without the host: as where ranks are that need theirs. On all ranks alike.
  Experiment experiment;

  // Filled in by the operator, and by whoever foresees its memory: some ranks lay out vectors differently, for they
  // compute on a CPU beside a GPU or with other vector registers. Then faces travel as in dirac/stencil/face_wire.hpp.
  bool unlike_ranks = false;

  HopForm form() const { return {stencil, reconstruct, naik_reconstruct}; }
};

}  // namespace staghorn
