// Conjugate Gradient on the GPU as the textbook has it, every vector operation a call of cuBLAS: the readable baseline
// [Kim & Lee, Lattice 2010] beside which the fused kernels are measured.
#pragma once

#include "solver/krylov/conjugate_gradient.hpp"

namespace staghorn {

class Cublas;  // cublas/cublas.hpp

struct CublasVectors {
  CgVectors cg;
  ColorVectorField q;
  explicit CublasVectors(const StaggeredOperator& d) : cg(d), q(d.make_vector()) {}
  std::int64_t bytes() const { return cg.bytes() + q.bytes(); }
};

// As conjugate_gradient, for `d` on the GPU and without any sum or update inside a hop. Its sums are made in cuBLAS's
// own order and in the precision of the vectors, so its bits are those of no other path, nor the same on other grids.
CgResult cublas_conjugate_gradient(const Cublas& blas, StaggeredOperator& d, double mass, Parity parity,
                                   ColorVectorField& x, const ColorVectorField& b, CublasVectors& work,
                                   const CgStop& stop, const std::function<void(const CgProgress&)>& progress = {});

}  // namespace staghorn
