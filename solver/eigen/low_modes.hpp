// What the eigenpairs of a gauge say of observables.
#pragma once

#include <optional>

#include "solver/eigen/low_mode_correlator.hpp"
#include "solver/eigen/low_mode_trace.hpp"

namespace staghorn {

struct LowModes {  // absent where nothing asks for it
  std::optional<LowModeTrace> trace;
  std::optional<LowModeCorrelator> correlator;
  double seconds = 0;  // of the slowest rank, to find them
};

}  // namespace staghorn
