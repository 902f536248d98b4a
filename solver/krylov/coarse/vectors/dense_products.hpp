// Products of small dense matrices with vectors, block by block: P c, P^+ r, E c, W^+ W. Numbers are complex, fp64,
// real and imaginary parts apart: `width` real parts, then as many imaginary ones. A width is a multiple
// of `lane_step`. Each sum has one order, written out, with explicit fma: the same bits on every instruction set.
// Local.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace staghorn {

constexpr int lane_step = 8;
constexpr std::int64_t padded(std::int64_t n) { return (n + lane_step - 1) / lane_step * lane_step; }

// out += sum_j column_j v_j for j = 0 ... columns - 1: column_j is at `matrix` + 2 width j, v_j = v[j] + i v[v_width +
// j]. 8 flops and 16 bytes of the matrix, in fp32 8, for each number of it.
void add_columns(const double* matrix, std::int64_t width, int columns, const double* v, std::int64_t v_width,
                 double* out);
void add_columns(const float* matrix, std::int64_t width, int columns, const double* v, std::int64_t v_width,
                 double* out);

// result[j] + i result[result_width + j] = (column_j, v) for each column, in eight partial sums.
void dot_columns(const double* matrix, std::int64_t width, int columns, const double* v, double* result,
                 std::int64_t result_width);

// (a, b), in the same order.
struct DensePair {
  double re, im;
};
DensePair dot_dense(const double* a, const double* b, std::int64_t width);

// v += (re + i im) w
void add_scaled(double re, double im, const double* w, double* v, std::int64_t width);

// Rows of two matrices that are multiplied: row k of a is at a + 2 width rows[k].a, and so on.
struct RowPair {
  std::int32_t a, b;
};
// column_j of out += (sum_k conj(a_k) b_k[j]), where out has `columns` columns of `width` numbers.
void add_adjoint_product(const double* a, const double* b, std::span<const RowPair> rows, std::int64_t width,
                         int columns, double* out);

}  // namespace staghorn
