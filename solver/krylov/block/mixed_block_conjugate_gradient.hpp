// Block Conjugate Gradient in two precisions: iterations in fp32, residual and solution in fp64.
#pragma once

#include <memory>

#include "solver/krylov/krylov_solver.hpp"

namespace staghorn {

// See make_block_solver. Local.
std::unique_ptr<KrylovSolver> make_mixed_block_solver(StaggeredOperator& d, StaggeredOperator& sloppy);

}  // namespace staghorn
