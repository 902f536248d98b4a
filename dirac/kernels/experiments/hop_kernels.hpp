// The kernels that an operator calls, as functions that others can stand around.
#pragma once

#include <array>
#include <cstddef>
#include <functional>

#include "dirac/kernels/experiments/experiment.hpp"
#include "dirac/kernels/kernel_table.hpp"
#include "halo/communicator.hpp"

namespace staghorn {

struct HopKernels {
  std::function<void(const HopView&, const HopCall&)> hop;
  std::function<void(const HopView&, const DirectionCall&)> update_direction;
};

// Those of the table, or around them what `experiment` asks. Sums of a slowed rank wait with their hop; on a GPU the
// GPU itself waits, after hops alone. `face_bytes`: of its ghosts. Local.
HopKernels hop_kernels(const KernelTable& table, const Experiment& experiment, const Communicator& communicator,
                       const std::array<std::size_t, 8>& face_bytes);

}  // namespace staghorn
