// Kernels on many colour vectors at once: dot products, Gram matrices, linear combinations, steps of shifted systems.
// One table per instruction set and one for CUDA, with the same bits. What solvers use is
// dirac/operators/vector_algebra.hpp.
#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "dirac/algebra/exact_sum.hpp"
#include "dirac/algebra/precision.hpp"
#include "dirac/algebra/su3.hpp"
#include "dirac/fields/site_cells.hpp"
#include "dirac/kernels/shifted_step.hpp"

namespace staghorn {

constexpr int max_columns = 32;         // of one operand of a Gram matrix, and of what a combination writes
constexpr int max_grown = 16;           // columns that a combination adds to, or writes in place, beside others
constexpr int max_products = 1024;      // of a Gram matrix, also where `a` has more columns and `b` one
constexpr int max_combined = 64;        // columns that are combined
constexpr int max_coefficients = 2304;  // of a combination
constexpr int max_shifts = 32, max_shifted_steps = 4;

// One right-hand side of a field.
struct VectorColumn {
  void* data = nullptr;     // its vector of the first block
  std::int64_t stride = 0;  // bytes from its vector of one block to that of the next
  double scale = 1;         // a power of two that each number is multiplied with; read by products alone
};

// sum conj(a_i) b_j over all sites of this rank, scaled. Pairs: i = j (`dot`), all (`gram`), or, where b is empty,
// i < j of a with itself and the norms i = j (`gram`).
struct ProductCall {
  Precision precision = Precision::fp64;
  std::span<const VectorColumn> a, b;
  const SiteCells* cells = nullptr;
  const std::int32_t* device_cells = nullptr;         // GPU: the first slot of each cell
  int lanes = 0;                                      // of a block
  ExactPartial *re = nullptr, *im = nullptr;          // one for each pair, [i] or [i][j], units CellGrid::u2; added to
  double *largest_a = nullptr, *largest_b = nullptr;  // for each column the largest squared norm of a cell; raised
  void *scratch = nullptr, *scratch_host = nullptr;   // GPU: scratch_bytes each, in device and in pinned memory
  const std::function<void()>* meanwhile = nullptr;   // GPU: called once the work is queued, before it is waited for
};

// y_j = sum_i x_i c_ij for the columns before first_grown, and y_j += sum_i x_i c_ij over i from first_x_of_grown on
// for the others; at most max_coefficients c_ij. Numbers are computed in arithmetic_of(precision), i ascending.
//
// The columns from first_in_place to first_grown may stand among x too, before first_x_of_grown: at most max_grown,
// with 48 columns of x and of y at most.
struct CombineCall {
  Precision precision = Precision::fp64;
  std::span<const VectorColumn> x, y;
  const Complex<double>* coefficients = nullptr;  // [i][j]
  int first_in_place = 0, first_grown = 0, first_x_of_grown = 0;
  std::int64_t blocks = 0;
  int lanes = 0;            // of a block
  void* scratch = nullptr;  // as above
  bool waits = true;        // GPU: otherwise the work is only queued
};

// Steps of shifted systems: for each shift s and right-hand side, `count[s][rhs]` times x_s += alpha p_s,
// p_s = zeta r + beta p_s, with the coefficients steps[s][rhs][step] and the residual r[step]. Where the count is 0,
// neither field is read. Fields have the layout of ColorVectorField; fp64 or fp32.
struct ShiftedCall {
  Precision precision = Precision::fp64;
  std::span<const void* const> r;
  std::span<void*const> x, p;                  // one for each shift
  const ShiftedStep<double>* steps = nullptr;  // max_shifted_steps for each shift and right-hand side; GPU: there
  const int* counts = nullptr;                 // GPU: there
  std::int64_t blocks = 0;
  int lanes = 0, n_rhs = 1;
};

// All calls are local. Sums and coefficients lie on the host. Calls return when the work is done.
struct VectorKernels {
  std::int64_t scratch_bytes;
  void (*dot)(const ProductCall&);
  void (*gram)(const ProductCall&);
  void (*combine)(const CombineCall&);
  void (*update_shifted)(const ShiftedCall&);  // on a GPU only queued
};

struct KernelTable;

// Those of the same instruction set, or of the GPU.
const VectorKernels& vector_kernels(const KernelTable& kernels);

}  // namespace staghorn
