// With what a StaggeredOperator is made: plain data.
#pragma once

#include <string>

#include "dirac/algebra/precision.hpp"
#include "dirac/kernels/launch_choice.hpp"
#include "dirac/stencil/boundary.hpp"

namespace staghorn {

struct OperatorOptions {
  Boundary boundary;
  Precision precision = Precision::fp64;
  Reconstruct reconstruct = Reconstruct::none18;
  int n_rhs = 1;                         // at most max_rhs (vector_shape.hpp)
  int cuda_device = -1;                  // >= 0: on that GPU; -1: on the CPU
  std::string instruction_set = "auto";  // auto | avx512 | avx2 | baseline; the result never depends on it
  bool overlap = true;                   // faces travel while interior sites are computed
  std::string transport = "auto";  // between ranks: the fastest (halo/transport/transport_choice.hpp), or that name
  Tuning tuning = Tuning::on;      // of launches on a GPU (launch_tuning.hpp); the result never depends on it
};

}  // namespace staghorn
