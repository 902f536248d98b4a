#include "dirac/algebra/block_cholesky.hpp"

#include <algorithm>
#include <cmath>

#include "dirac/algebra/su3_matrix.hpp"

namespace staghorn {

namespace {

Complex<double> conjugate(const Complex<double>& z) { return {z.re, -z.im}; }
Complex<double> minus(const Complex<double>& z) { return {-z.re, -z.im}; }
double norm2_of(const Complex<double>& z) { return multiply_add(z.re, z.re, z.im * z.im); }

}  // namespace

ComplexMatrix identity(int n) {
  ComplexMatrix one(n, n);
  for (int i = 0; i < n; ++i) one(i, i) = {1, 0};
  return one;
}

ComplexMatrix adjoint(const ComplexMatrix& a) {
  ComplexMatrix b(a.columns, a.rows);
  for (int i = 0; i < a.rows; ++i)
    for (int j = 0; j < a.columns; ++j) b(j, i) = conjugate(a(i, j));
  return b;
}

STAGHORN_FMA_CLONES
ComplexMatrix product(const ComplexMatrix& a, const ComplexMatrix& b) {
  ComplexMatrix c(a.rows, b.columns);
  for (int i = 0; i < a.rows; ++i)
    for (int k = 0; k < a.columns; ++k)
      for (int j = 0; j < b.columns; ++j) c(i, j) = multiply_add(a(i, k), b(k, j), c(i, j));
  return c;
}

ComplexMatrix product_adjoint(const ComplexMatrix& a, const ComplexMatrix& b) { return product(a, adjoint(b)); }

STAGHORN_FMA_CLONES
void add(double factor, const ComplexMatrix& a, ComplexMatrix& b) {
  for (std::size_t k = 0; k < b.elements.size(); ++k) {
    b.elements[k].re = multiply_add(factor, a.elements[k].re, b.elements[k].re);
    b.elements[k].im = multiply_add(factor, a.elements[k].im, b.elements[k].im);
  }
}

ComplexMatrix stacked(std::span<const ComplexMatrix* const> parts) {
  ComplexMatrix all(0, parts[0]->columns);
  for (const ComplexMatrix* part : parts) {
    all.rows += part->rows;
    all.elements.insert(all.elements.end(), part->elements.begin(), part->elements.end());
  }
  return all;
}

STAGHORN_FMA_CLONES
double column_norm2(const ComplexMatrix& a, int j) {
  double sum = 0;
  for (int i = 0; i < a.rows; ++i) sum += norm2_of(a(i, j));
  return sum;
}

STAGHORN_FMA_CLONES
double largest_row_sum(const ComplexMatrix& a) {
  double largest = 0;
  for (int i = 0; i < a.rows; ++i) {
    double sum = 0;
    for (int j = 0; j < a.columns; ++j) sum += std::sqrt(norm2_of(a(i, j)));
    if (!(sum <= largest)) largest = sum;  // NaN is the largest
  }
  return largest;
}

STAGHORN_FMA_CLONES
ComplexMatrix triangular_inverse(const ComplexMatrix& rho) {
  ComplexMatrix inverse(rho.rows, rho.columns);
  const auto kept = [&](int i) { return rho(i, i).re > 0; };
  for (int j = 0; j < rho.columns; ++j) {  // from the diagonal up
    if (!kept(j)) continue;
    inverse(j, j) = {1 / rho(j, j).re, 0};
    for (int i = j - 1; i >= 0; --i) {
      if (!kept(i)) continue;
      Complex<double> sum{0, 0};
      for (int k = i + 1; k <= j; ++k)
        if (kept(k)) sum = multiply_add(minus(rho(i, k)), inverse(k, j), sum);
      inverse(i, j) = {sum.re / rho(i, i).re, sum.im / rho(i, i).re};
    }
  }
  return inverse;
}

STAGHORN_FMA_CLONES
BlockFactor block_cholesky(const ComplexMatrix& gram, double least) {
  const int n = gram.rows;
  BlockFactor f{ComplexMatrix(n, n), ComplexMatrix(n, n), std::vector<bool>(std::size_t(n)), 0, 1};
  ComplexMatrix& rho = f.rho;
  const auto kept = [&](int i) { return f.kept[std::size_t(i)]; };
  for (int j = 0; j < n; ++j) {
    double rest = gram(j, j).re;
    for (int i = 0; i < j; ++i) {
      if (!kept(i)) continue;
      // rho_ij = (G_ij - sum_{k < i} conj(rho_ki) rho_kj) / rho_ii
      Complex<double> sum = gram(i, j);
      for (int k = 0; k < i; ++k)
        if (kept(k)) sum = conjugate_multiply_subtract(rho(k, i), rho(k, j), sum);
      rho(i, j) = {sum.re / rho(i, i).re, sum.im / rho(i, i).re};
      rest -= norm2_of(rho(i, j));
    }
    if (!(rest > least * gram(j, j).re) || !(rest - rest == 0)) continue;  // NaN and infinity are dropped too
    f.kept[std::size_t(j)] = true;
    ++f.rank;
    f.smallest_pivot = std::min(f.smallest_pivot, rest / gram(j, j).re);
    rho(j, j) = {std::sqrt(rest), 0};
  }
  f.inverse = triangular_inverse(rho);
  return f;
}

ComplexMatrix positive_inverse(const BlockFactor& factor) { return product_adjoint(factor.inverse, factor.inverse); }

}  // namespace staghorn
