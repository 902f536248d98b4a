// Conjugate Gradient whose scalars live on the GPU: the loop of conjugate_gradient.cpp as two kernels an iteration
// in a CUDA graph, as one kernel, or with faces and sums by NCCL.
#pragma once

#include "solver/krylov/conjugate_gradient.hpp"

namespace staghorn {

// Continues where conjugate_gradient has set up: r = b - A x, p = r, r2 = |r|^2, p2 = |p|^2 per right-hand side. Works
// on the vectors of `d`, which is on a GPU; same bits as on the CPU. No host synchronisation inside an iteration: the
// host looks at the residuals between batches of iterations while the next batch runs. `keep`: see
// conjugate_gradient_loop.
CgResult cuda_conjugate_gradient_loop(StaggeredOperator& d, double mass, Parity parity, ColorVectorField& x,
                                      ColorVectorField& r, ColorVectorField& p, ColorVectorField& tmp,
                                      const std::vector<double>& r2, const std::vector<double>& p2, const CgStop& stop,
                                      const std::function<void(const CgProgress&)>& progress,
                                      std::shared_ptr<CudaLoop>* keep);

}  // namespace staghorn
