// Dot products, Gram matrices and linear combinations of many colour vectors: what block Krylov methods, Lanczos and
// deflation are built on. The same bits on every process grid, number of threads, instruction set and device.
//
// Columns are the right-hand sides of the given fields, in the order of the fields. Fields of one call have the same
// layout, precision and memory space. All sites of a field are those of one parity.
//
// Accuracy. Products are computed in double for every precision, over cells of 2^4 sites, and summed exactly
// (dirac/kernels/cell_products.hpp). The result differs from the true (a, b) by at most
//   80 2^-53 sum_cells |a_cell| |b_cell|  +  cells 2^-64 max |a_cell| max |b_cell|,   typically 2^-53 |a| |b|.
// Where a column holds NaN or infinity, its products are NaN.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "dirac/algebra/complex_matrix.hpp"
#include "dirac/fields/color_vector_field.hpp"
#include "halo/communicator.hpp"

namespace staghorn {

struct KernelTable;

// The powers of two by which columns are divided before they are multiplied. A caller who hands the same object to
// every call on like vectors saves the second pass that a first guess may need. Empty: the first guess.
using ColumnScales = std::vector<int>;

class VectorAlgebra {
 public:
  static constexpr int max_columns = 32;     // of one operand of gram, and of y of combine
  static constexpr int max_grown = 16;       // of combine: what grows beside y, and what is written in place
  static constexpr int max_products = 1024;  // of gram: columns of a where b has one
  static constexpr int max_combined = 64;    // of x of combine, where c has at most 2304 elements

  // For fields of this layout on the device of these kernels. `communicator` and `layout` must outlive the object.
  // Takes 4 bytes a site on the host, and half a byte a site on a GPU. Local.
  VectorAlgebra(const Communicator& communicator, const SiteLayout& layout, const KernelTable& kernels);
  ~VectorAlgebra();

  using Fields = std::span<const ColorVectorField* const>;

  // The dot products conj(a_r) b_r, one for each right-hand side r of the two fields; at most 64. 60 flops and two
  // vectors read per site and right-hand side. Throws Error if the fields differ in kind. Collective.
  std::vector<Complex<double>> dot(const ColorVectorField& a, const ColorVectorField& b,
                                   ColumnScales* scales_a = nullptr, ColumnScales* scales_b = nullptr) const;

  // G_ij = conj(a_i) b_j. Each vector is read once; 18 flops per site and pair. Throws Error if the fields differ in
  // kind or hold more than max_columns columns; with one column of b, more than max_products of a. Collective.
  ComplexMatrix gram(Fields a, Fields b, ColumnScales* scales_a = nullptr, ColumnScales* scales_b = nullptr) const;

  // G_ij = conj(a_i) a_j, exactly Hermitian, with real G_ii >= 0. Half the flops. Elements i < j have the bits of
  // gram(a, a) at the same scales. `meanwhile` is called once; on a GPU what it queues follows before the host waits
  // for the result. It may not change a. Collective.
  ComplexMatrix gram(Fields a, ColumnScales* scales = nullptr, const std::function<void()>& meanwhile = {}) const;

  using Targets = std::span<ColorVectorField* const>;

  // y_j = sum_i x_i c(i, j), plus y_j where `add` is set. i ascends; the arithmetic is that of the precision, for fp16
  // that of fp32. Reads each x once; in fp64 on a GPU once for each 16 columns y, or 32 where x has at most 32. 24
  // flops per site and element of c. No field is both, but as below. Throws Error if shapes or kinds differ.
  // Local.
  void combine(Fields x, const ComplexMatrix& c, Targets y, bool add = false) const;

  // Two combinations in one pass: y as above, and to fields `grown`, whose columns of c follow those of y, the sum over
  // the columns i of x from `first_x` on is added. The last field of y, of fp64 or fp32, may be one of x before these:
  // then it has at most max_grown columns, and x and y have 48. On a GPU it is only queued. Local.
  void combine(Fields x, const ComplexMatrix& c, Targets y, Targets grown, int first_x) const;

 private:
  void combine(Fields x, const ComplexMatrix& c, Targets y, Targets grown, int first_x, bool waits) const;

  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace staghorn
