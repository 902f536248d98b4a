// Conjugate Gradient whose scalars live on the GPU: the loop of conjugate_gradient.cpp, in one of the forms on GPUs.
#pragma once

#include "solver/krylov/conjugate_gradient.hpp"

namespace staghorn {

// As conjugate_gradient_loop, on the vectors of an operator on a GPU that is host_free(); the same bits as on the CPU.
// The host does not wait within an iteration: it looks at the residuals of one batch of iterations while the next batch
// runs. Throws Stalled if another rank does not answer. Collective.
CgResult cuda_conjugate_gradient_loop(const ParitySystem& system, CgState& state, const CgStop& stop,
                                      const ShowProgress& show);

}  // namespace staghorn
