// Conjugate Gradient on the GPU as the textbook has it, every vector operation a call of cuBLAS: the readable baseline
// [Kim & Lee, Lattice 2010] beside which the fused kernels are measured.
#pragma once

#include <memory>

#include "solver/krylov/krylov_solver.hpp"

namespace staghorn {

class Cublas;  // cublas/cublas.hpp

// For systems of `d` on a GPU; no sum and no update is fused into a hop. `blas` must outlive the solver. cuBLAS sums in
// its own order and in the precision of the vectors, so the bits are those of no other solver and depend on the grid.
std::unique_ptr<KrylovSolver> make_cublas_solver(const Cublas& blas, const StaggeredOperator& d);

// The vectors of that solver, besides x and b: r, p, tmp, q.
constexpr int cublas_vectors = 4;

}  // namespace staghorn
