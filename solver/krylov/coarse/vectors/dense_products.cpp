#include "solver/krylov/coarse/vectors/dense_products.hpp"

#include "dirac/algebra/su3_matrix.hpp"

// Quads are passed within this file alone, and inlined.
#pragma GCC diagnostic ignored "-Wpsabi"

namespace staghorn {

namespace {

// Half of lane_step numbers, in one register where the processor has one for them.
typedef double Quad __attribute__((vector_size(4 * sizeof(double)), aligned(sizeof(double))));
constexpr int quads = lane_step / 4, tile_columns = 2;

STAGHORN_INLINE Quad fma_each(Quad a, Quad b, Quad c) {
  Quad result{};
  for (int l = 0; l < 4; ++l) result[l] = __builtin_fma(a[l], b[l], c[l]);
  return result;
}
STAGHORN_INLINE Quad quad(const double* from) { return *reinterpret_cast<const Quad*>(from); }
STAGHORN_INLINE void put(double* to, Quad v) { *reinterpret_cast<Quad*>(to) = v; }
STAGHORN_INLINE Quad all(double v) { return Quad{v, v, v, v}; }

template <class Number>
STAGHORN_INLINE void add_columns_of(const Number* matrix, std::int64_t width, int columns, const double* v,
                                    std::int64_t v_width, double* out) {
  for (int j = 0; j < columns; ++j) {
    const Number *re = matrix + 2 * width * j, *im = re + width;
    const double v_re = v[j], v_im = v[v_width + j];
    for (std::int64_t i = 0; i < width; ++i) {
      out[i] = multiply_add(-double(im[i]), v_im, multiply_add(double(re[i]), v_re, out[i]));
      out[width + i] = multiply_add(double(im[i]), v_re, multiply_add(double(re[i]), v_im, out[width + i]));
    }
  }
}

}  // namespace

STAGHORN_FMA_CLONES
void add_columns(const double* matrix, std::int64_t width, int columns, const double* v, std::int64_t v_width,
                 double* out) {
  add_columns_of(matrix, width, columns, v, v_width, out);
}

STAGHORN_FMA_CLONES
void add_columns(const float* matrix, std::int64_t width, int columns, const double* v, std::int64_t v_width,
                 double* out) {
  add_columns_of(matrix, width, columns, v, v_width, out);
}

STAGHORN_FMA_CLONES
DensePair dot_dense(const double* a, const double* b, std::int64_t width) {
  Quad re[quads]{}, im[quads]{};
  for (std::int64_t i = 0; i < width; i += lane_step)
    for (int q = 0; q < quads; ++q) {
      const std::int64_t k = i + 4 * q;
      const Quad a_re = quad(a + k), a_im = quad(a + width + k), b_re = quad(b + k), b_im = quad(b + width + k);
      re[q] = fma_each(a_im, b_im, fma_each(a_re, b_re, re[q]));
      im[q] = fma_each(-a_im, b_re, fma_each(a_re, b_im, im[q]));
    }
  const Quad sum_re = re[0] + re[1], sum_im = im[0] + im[1];
  return {(sum_re[0] + sum_re[2]) + (sum_re[1] + sum_re[3]), (sum_im[0] + sum_im[2]) + (sum_im[1] + sum_im[3])};
}

void dot_columns(const double* matrix, std::int64_t width, int columns, const double* v, double* result,
                 std::int64_t result_width) {
  for (int j = 0; j < columns; ++j) {
    const DensePair product = dot_dense(matrix + 2 * width * j, v, width);
    result[j] = product.re;
    result[result_width + j] = product.im;
  }
}

STAGHORN_FMA_CLONES
void add_scaled(double s_re, double s_im, const double* w, double* v, std::int64_t width) {
  for (std::int64_t i = 0; i < width; ++i) {
    const double w_re = w[i], w_im = w[width + i];
    v[i] = multiply_add(-s_im, w_im, multiply_add(s_re, w_re, v[i]));
    v[width + i] = multiply_add(s_im, w_re, multiply_add(s_re, w_im, v[width + i]));
  }
}

STAGHORN_FMA_CLONES
void add_adjoint_product(const double* a, const double* b, std::span<const RowPair> rows, std::int64_t width,
                         int columns, double* out) {
  for (int first = 0; first < columns; first += tile_columns) {
    for (std::int64_t i = 0; i < width; i += lane_step) {
      Quad re[tile_columns][quads]{}, im[tile_columns][quads]{};
      for (const RowPair row : rows) {
        const double *const a_re = a + 2 * width * row.a + i, *const a_im = a_re + width;
        const double* const b_row = b + 2 * width * row.b + first;
        for (int t = 0; t < tile_columns; ++t) {  // columns beyond the last are padding
          const Quad b_re = all(b_row[t]), b_im = all(b_row[width + t]);
          for (int q = 0; q < quads; ++q) {
            re[t][q] = fma_each(quad(a_im + 4 * q), b_im, fma_each(quad(a_re + 4 * q), b_re, re[t][q]));
            im[t][q] = fma_each(-quad(a_im + 4 * q), b_re, fma_each(quad(a_re + 4 * q), b_im, im[t][q]));
          }
        }
      }
      for (int t = 0; t < tile_columns && first + t < columns; ++t)
        for (int q = 0; q < quads; ++q) {
          double* const to = out + 2 * width * (first + t) + i + 4 * q;
          put(to, quad(to) + re[t][q]);
          put(to + width, quad(to + width) + im[t][q]);
        }
    }
  }
}

}  // namespace staghorn
