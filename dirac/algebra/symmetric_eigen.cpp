#include "dirac/algebra/symmetric_eigen.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "halo/watch/error.hpp"

namespace staghorn {

namespace {

constexpr int most_sweeps = 60;  // of QL for one eigenvalue; two or three are usual
// Elements are about 1 after scaling. What is left of a column below this squared norm is as good as zero, and the
// reciprocal of its square is still a number.
constexpr double least_norm2 = 0x1p-600;
// Diagonal elements below this count as this beside those off the diagonal, whose squares then do not underflow.
constexpr double least_size = 0x1p-100;

// No fma here: on a processor of the baseline it is a call of a function. With contraction off a * b + c has the same
// bits everywhere, too.

// sum_i a_i b_i in eight chains, whose sums are added in a fixed order.
double dot(const double* a, const double* b, int n) {
  double chain[8] = {};
  int i = 0;
  for (; i + 8 <= n; i += 8)
    for (int k = 0; k < 8; ++k) chain[k] += a[i + k] * b[i + k];
  for (int k = 0; i < n; ++i, ++k) chain[k] += a[i] * b[i];
  return ((chain[0] + chain[1]) + (chain[2] + chain[3])) + ((chain[4] + chain[5]) + (chain[6] + chain[7]));
}

void add(double factor, const double* a, double* b, int n) {
  for (int i = 0; i < n; ++i) b[i] += factor * a[i];
}

// A power of two near the largest element: dividing by it changes no mantissa, and squares neither overflow nor vanish.
double scale_of(std::span<const double> elements) {
  double largest = 0;
  for (const double element : elements) {
    if (!std::isfinite(element)) throw Error("symmetric matrix", "finite numbers", element);
    largest = std::max(largest, std::fabs(element));
  }
  int exponent = 0;
  std::frexp(largest, &exponent);
  return std::ldexp(1.0, exponent);
}

struct Tridiagonal {
  std::vector<double> diagonal, off;
};

// A = Q T Q^T with Q = H_0 H_1 ... H_{n-3}, H_k = 1 - beta v v^T, where v begins at component k + 1. Row i of `rows`
// becomes column i of Q.
Tridiagonal reduce(RealMatrix& a, RealMatrix& rows) {
  const int n = a.rows;
  for (int i = 0; i < n; ++i)
    for (int j = i + 1; j < n; ++j) a(i, j) = a(j, i);
  Tridiagonal t{std::vector<double>(std::size_t(n)), std::vector<double>(std::size_t(std::max(n - 1, 0)))};
  std::vector<double> betas(std::size_t(n), 0.0), p(static_cast<std::size_t>(n));
  for (int k = 0; k + 1 < n; ++k) {
    const int m = n - k - 1;
    double* v = a.row(k) + k + 1;  // by symmetry the column below the diagonal
    t.diagonal[std::size_t(k)] = a(k, k);
    const double rest = dot(v + 1, v + 1, m - 1);
    if (rest < least_norm2) {
      t.off[std::size_t(k)] = v[0];
      continue;
    }
    const double norm = std::sqrt(v[0] * v[0] + rest), alpha = v[0] > 0 ? -norm : norm;
    t.off[std::size_t(k)] = alpha;
    v[0] -= alpha;
    const double beta = 2 / (v[0] * v[0] + rest);
    betas[std::size_t(k)] = beta;
    // A <- H A H = A - v w^T - w v^T,  p = beta A v,  w = p - (beta/2 v^T p) v
    for (int i = 0; i < m; ++i) p[std::size_t(i)] = beta * dot(a.row(k + 1 + i) + k + 1, v, m);
    add(-beta / 2 * dot(v, p.data(), m), v, p.data(), m);
    for (int i = 0; i < m; ++i) {
      double* row = a.row(k + 1 + i) + k + 1;
      add(-v[i], p.data(), row, m);
      add(-p[std::size_t(i)], v, row, m);
    }
  }
  if (n > 0) t.diagonal[std::size_t(n - 1)] = a(n - 1, n - 1);

  std::fill(rows.elements.begin(), rows.elements.end(), 0.0);
  for (int i = 0; i < n; ++i) rows(i, i) = 1;
  for (int k = n - 2; k >= 0; --k) {
    if (betas[std::size_t(k)] == 0) continue;
    const double* v = a.row(k) + k + 1;
    for (int i = k + 1; i < n; ++i) {
      double* row = rows.row(i) + k + 1;
      add(-betas[std::size_t(k)] * dot(row, v, n - k - 1), v, row, n - k - 1);
    }
  }
  return t;
}

// T = S diag(d) S^T: turns `d` into the eigenvalues and rows r_j into sum_i S_ij r_i.
void implicit_ql(std::vector<double>& d, std::vector<double> e, RealMatrix& rows) {
  const int n = int(d.size());
  e.push_back(0);
  const auto at = [](std::vector<double>& v, int i) -> double& { return v[std::size_t(i)]; };
  for (int l = 0; l < n; ++l)
    for (int sweep = 0;; ++sweep) {
      int m = l;  // the matrix falls apart below row m
      for (; m + 1 < n; ++m) {
        const double size = std::max(std::fabs(at(d, m)) + std::fabs(at(d, m + 1)), least_size);
        if (size + std::fabs(at(e, m)) == size) break;
      }
      if (m == l) break;
      if (sweep == most_sweeps) throw Error(ErrorKind::internal, "QL did not converge");
      // Wilkinson's shift, from the first two rows
      const double half = (at(d, l + 1) - at(d, l)) / (2 * at(e, l)), root = std::sqrt(half * half + 1);
      double g = at(d, m) - at(d, l) + at(e, l) / (half >= 0 ? half + root : half - root);
      double sine = 1, cosine = 1, p = 0;
      int i = m - 1;
      for (; i >= l; --i) {
        const double f = sine * at(e, i), b = cosine * at(e, i), r = std::sqrt(f * f + g * g);
        at(e, i + 1) = r;
        if (r == 0) {  // the matrix falls apart here
          at(d, i + 1) -= p;
          at(e, m) = 0;
          break;
        }
        sine = f / r, cosine = g / r;
        g = at(d, i + 1) - p;
        const double turned = (at(d, i) - g) * sine + 2 * cosine * b;
        p = sine * turned;
        at(d, i + 1) = g + p;
        g = cosine * turned - b;
        double *upper = rows.row(i + 1), *lower = rows.row(i);
        for (int k = 0; k < rows.columns; ++k) {
          const double before = upper[k];
          upper[k] = sine * lower[k] + cosine * before;
          lower[k] = cosine * lower[k] - sine * before;
        }
      }
      if (i >= l) continue;
      at(d, l) -= p;
      at(e, l) = g;
      at(e, m) = 0;
    }
}

SymmetricEigen ascending(const std::vector<double>& values, const RealMatrix& rows, double scale) {
  std::vector<int> order(values.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](int i, int j) { return values[std::size_t(i)] < values[std::size_t(j)]; });
  SymmetricEigen sorted{{}, RealMatrix(rows.rows, rows.columns)};
  for (int i = 0; i < rows.rows; ++i) {
    const int from = order[std::size_t(i)];
    sorted.values.push_back(values[std::size_t(from)] * scale);
    std::copy_n(rows.row(from), rows.columns, sorted.vectors.row(i));
  }
  return sorted;
}

}  // namespace

SymmetricEigen symmetric_eigen(RealMatrix a) {
  const double scale = scale_of(a.elements);
  for (double& element : a.elements) element /= scale;
  RealMatrix rows(a.rows, a.rows);
  Tridiagonal t = reduce(a, rows);
  implicit_ql(t.diagonal, t.off, rows);
  return ascending(t.diagonal, rows, scale);
}

SymmetricEigen tridiagonal_ends(std::vector<double> diagonal, std::vector<double> off) {
  const double scale = std::max(scale_of(diagonal), scale_of(off));
  for (double& element : diagonal) element /= scale;
  for (double& element : off) element /= scale;
  const int n = int(diagonal.size());
  RealMatrix rows(n, 2);
  if (n > 0) rows(0, 0) = rows(n - 1, 1) = 1;
  implicit_ql(diagonal, std::move(off), rows);
  return ascending(diagonal, rows, scale);
}

}  // namespace staghorn
