// What blocks take on a GPU, with the bits of the host: coarse_vector.hpp, block_basis.hpp and coarse_matrix.hpp call
// this where their numbers lie there. Local; queued on the default stream, and what returns numbers has waited for
// them. Throws Error where a launch fails, or where this build has no CUDA.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "dirac/algebra/exact_sum.hpp"
#include "solver/krylov/coarse/vectors/coarse_vector.hpp"

namespace staghorn {

// Of the dot products (a_k, b) on each block the largest real and imaginary part, and their sums on given grids:
// [k][right-hand side][part].
std::vector<double> cuda_largest(const CoarseSums& sums, std::span<const CoarseVector* const> a, const CoarseVector& b);
std::vector<ExactPartial> cuda_sums(const CoarseSums& sums, std::span<const CoarseVector* const> a,
                                    const CoarseVector& b, std::span<const SumGrid> grids);

void cuda_add_scaled(std::span<const Complex<double>> factor, const CoarseVector& w, CoarseVector& v, double own);

// p = beta p + r + sum_i u_i c_i where a right-hand side is active, c: [i][right-hand side].
void cuda_next_direction(const CoarseSums& sums, const CoarseVector& r, std::span<const CoarseVector> u,
                         std::span<const Complex<double>> c, std::span<const double> beta, std::span<const char> active,
                         CoarseVector& p);

// E(0) on the GPU, as CoarseMatrix has it.
struct CudaMatrix {
  const float* numbers;            // [block][pair][column][re, im][width]
  const std::int64_t* neighbours;  // [block][pair]
  int pairs;
};
// out = E(0) in; `ghosts`: blocks of other ranks.
void cuda_apply_matrix(const CudaMatrix& matrix, const CoarseVector& in, const double* ghosts, CoarseVector& out);

// P on the GPU, as BlockBasis has it: site i of a block is origin[block] + offset[i].
struct CudaBasis {
  const double* numbers;        // [block][column][re, im][width]
  const std::int64_t* origins;  // of each block
  const std::int32_t* offsets;  // of each site of a block
  int sites, n;
  std::int64_t blocks, width;
};
void cuda_restrict(const CudaBasis& basis, const ColorVector<double>* v, CoarseVector& c, int rhs);
void cuda_prolong(const CudaBasis& basis, const CoarseVector& c, int rhs, ColorVector<double>* v);

}  // namespace staghorn
