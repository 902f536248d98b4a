// The kernel of shifted systems: its contract is in VectorKernels.
#pragma once

#include "dirac/kernels/vector_kernels.hpp"

namespace staghorn::cuda {

void update_shifted(const ShiftedCall& call);

}  // namespace staghorn::cuda
