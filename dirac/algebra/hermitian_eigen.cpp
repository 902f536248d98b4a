#include "dirac/algebra/hermitian_eigen.hpp"

#include <omp.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <span>

#include "halo/watch/error.hpp"

namespace staghorn {

namespace {

constexpr int most_sweeps = 60;  // of QL for one eigenvalue; two or three are usual
// Elements are about 1 after scaling. What is left of a column below this squared norm is as good as zero, and the
// reciprocal of its square is still a number.
constexpr double least_norm2 = 0x1p-600;
// An element off the diagonal is as good as zero where rounding loses it beside this, whatever stands next to it:
// turning the matrix brings as much back.
constexpr double least_size = 1;
constexpr int least_for_threads = 128;  // rows that are worth waking them

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

// A power of two near the largest element: dividing by it changes no mantissa, and squares neither overflow nor vanish.
double scale_of(std::span<const double> elements) {
  double largest = 0;
  for (const double element : elements) {
    if (!std::isfinite(element)) throw Error("Hermitian matrix", "finite numbers", element);
    largest = std::max(largest, std::fabs(element));
  }
  int exponent = 0;
  std::frexp(largest, &exponent);
  return std::ldexp(1.0, exponent);
}

// Rows x columns reals, row by row; zero at first.
struct RealMatrix {
  RealMatrix(int rows, int columns)
      : rows(rows), columns(columns), elements(std::size_t(rows) * std::size_t(columns)) {}

  double* row(int i) { return elements.data() + std::size_t(i) * std::size_t(columns); }

  int rows, columns;
  std::vector<double> elements;
};

// Complex numbers, their real and their imaginary parts each in a row.
struct Numbers {
  double *re, *im;

  Numbers from(int first) const { return {re + first, im + first}; }
  Complex<double> operator[](int i) const { return {re[i], im[i]}; }
};

class SplitMatrix {
 public:
  explicit SplitMatrix(int n) : parts_(n, 2 * n) {}
  Numbers row(int i) { return {parts_.row(i), parts_.row(i) + parts_.rows}; }

 private:
  RealMatrix parts_;
};

// sum_i conj(a_i) b_i
Complex<double> dot(Numbers a, Numbers b, int n) {
  return {dot(a.re, b.re, n) + dot(a.im, b.im, n), dot(a.re, b.im, n) - dot(a.im, b.re, n)};
}

double norm2(Numbers a, int n) { return dot(a.re, a.re, n) + dot(a.im, a.im, n); }

void add(Complex<double> factor, Numbers a, Numbers b, int n) {
  for (int i = 0; i < n; ++i) {
    const double re = a.re[i], im = a.im[i];
    b.re[i] += factor.re * re - factor.im * im;
    b.im[i] += factor.re * im + factor.im * re;
  }
}

// z = size phase with |phase| = 1, also where squares underflow.
struct Polar {
  double size = 0;
  Complex<double> phase{1, 0};
};
Polar polar(Complex<double> z) {
  const double largest = std::max(std::fabs(z.re), std::fabs(z.im));
  if (largest == 0) return {};
  const double re = z.re / largest, im = z.im / largest, norm = std::sqrt(re * re + im * im);
  return {largest * norm, {re / norm, im / norm}};
}

// A = Q T Q^dagger, where Q = H_0 H_1 ... H_{n-2} and H_k = 1 - beta_k v_k v_k^dagger; v_k begins at component k + 1. T
// has `diagonal`, and `off` below it.
struct Reduction {
  explicit Reduction(int n) : rows(n), diagonal(std::size_t(n)), betas(std::size_t(n)), off(std::size_t(n)) {}

  SplitMatrix rows;  // of the conjugate of A at first; then row k holds v_k
  std::vector<double> diagonal, betas;
  std::vector<Complex<double>> off;
};

Reduction reduce(const ComplexMatrix& a, double scale) {
  const int n = a.rows;
  Reduction found(n);
  SplitMatrix& rows = found.rows;
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < i; ++j) {
      const double re = a(i, j).re / scale, im = a(i, j).im / scale;
      rows.row(i).re[j] = rows.row(j).re[i] = re;
      rows.row(i).im[j] = -im, rows.row(j).im[i] = im;
    }
    rows.row(i).re[i] = a(i, i).re / scale;
  }
  std::vector<double> memory(2 * std::size_t(n));
  const Numbers p{memory.data(), memory.data() + n};
  for (int k = 0; k < n; ++k) {
    found.diagonal[std::size_t(k)] = rows.row(k).re[k];
    const int m = n - k - 1;
    if (m == 0) break;
    const Numbers v = rows.row(k).from(k + 1);  // the column of A below the diagonal
    const double rest = norm2(v.from(1), m - 1);
    if (rest < least_norm2) {
      found.off[std::size_t(k)] = v[0];
      continue;
    }
    const auto [size, phase] = polar(v[0]);
    const double norm = std::sqrt(size * size + rest);
    found.off[std::size_t(k)] = {-norm * phase.re, -norm * phase.im};
    v.re[0] += norm * phase.re, v.im[0] += norm * phase.im;
    const double beta = 2 / (v.re[0] * v.re[0] + v.im[0] * v.im[0] + rest);
    found.betas[std::size_t(k)] = beta;
    // A <- H A H = A - v w^dagger - w v^dagger,  p = beta A v,  w = p - (beta/2 v^dagger p) v
#pragma omp parallel for schedule(static) if (m >= least_for_threads)
    for (int i = 0; i < m; ++i) {
      const Complex<double> sum = dot(rows.row(k + 1 + i).from(k + 1), v, m);
      p.re[i] = beta * sum.re, p.im[i] = beta * sum.im;
    }
    add({-beta / 2 * dot(v, p, m).re, 0}, v, p, m);
#pragma omp parallel for schedule(static) if (m >= least_for_threads)
    for (int i = 0; i < m; ++i) {
      const Numbers row = rows.row(k + 1 + i).from(k + 1);
      add({-v.re[i], v.im[i]}, p, row, m);
      add({-p.re[i], p.im[i]}, v, row, m);
    }
  }
  return found;
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

// The numbers of the values in ascending order.
std::vector<int> ascending(const std::vector<double>& values) {
  std::vector<int> order(values.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](int i, int j) { return values[std::size_t(i)] < values[std::size_t(j)]; });
  return order;
}

// All eigenvectors of the real tridiagonal matrix, as rows; turns `diagonal` into the eigenvalues. Each thread turns
// some of the columns, and computes the angles for itself.
RealMatrix tridiagonal_vectors(std::vector<double>& diagonal, const std::vector<double>& off) {
  const int n = int(diagonal.size());
  RealMatrix vectors(n, n);
  std::vector<double> values;
  bool failed = false;
#pragma omp parallel if (n >= least_for_threads)
  {
    const int threads = omp_get_num_threads(), thread = omp_get_thread_num();
    const int begin = int(std::int64_t{n} * thread / threads), end = int(std::int64_t{n} * (thread + 1) / threads);
    std::vector<double> d = diagonal;
    RealMatrix rows(n, end - begin);
    for (int i = begin; i < end; ++i) rows.row(i)[i - begin] = 1;
    try {
      implicit_ql(d, off, rows);
    } catch (const Error&) {  // in all threads alike
#pragma omp atomic write
      failed = true;
    }
    for (int i = 0; i < n; ++i) std::copy_n(rows.row(i), end - begin, vectors.row(i) + begin);
    if (thread == 0) values = std::move(d);
  }
  if (failed) throw Error(ErrorKind::internal, "QL did not converge");
  diagonal = std::move(values);
  return vectors;
}

}  // namespace

HermitianEigen hermitian_eigen(const ComplexMatrix& a) {
  const int n = a.rows;
  std::vector<double> parts;
  for (const Complex<double>& element : a.elements) parts.insert(parts.end(), {element.re, element.im});
  const double scale = scale_of(parts);
  Reduction reduced = reduce(a, scale);
  // T = P T' P^dagger with the phases P, where T' has |off| below the diagonal
  std::vector<Complex<double>> phases(std::size_t(n), {1, 0});
  std::vector<double> off;
  for (std::size_t k = 0; k + 1 < std::size_t(n); ++k) {
    const auto [size, phase] = polar(reduced.off[k]);
    const Complex<double> before = phases[k];
    off.push_back(size);
    phases[k + 1] = {phase.re * before.re - phase.im * before.im, phase.re * before.im + phase.im * before.re};
  }
  RealMatrix of_tridiagonal = tridiagonal_vectors(reduced.diagonal, off);
  const std::vector<int> order = ascending(reduced.diagonal);

  HermitianEigen found{{}, ComplexMatrix(n, n)};
  for (const int from : order) found.values.push_back(reduced.diagonal[std::size_t(from)] * scale);
#pragma omp parallel for schedule(static) if (n >= least_for_threads)
  for (int i = 0; i < n; ++i) {  // Q P s
    std::vector<double> memory(2 * std::size_t(n));
    const Numbers u{memory.data(), memory.data() + n};
    const double* s = of_tridiagonal.row(order[std::size_t(i)]);
    for (int j = 0; j < n; ++j) u.re[j] = phases[std::size_t(j)].re * s[j], u.im[j] = phases[std::size_t(j)].im * s[j];
    for (int k = n - 2; k >= 0; --k) {
      const double beta = reduced.betas[std::size_t(k)];
      if (beta == 0) continue;
      const Numbers v = reduced.rows.row(k).from(k + 1), rest = u.from(k + 1);
      const Complex<double> along = dot(v, rest, n - k - 1);
      add({-beta * along.re, -beta * along.im}, v, rest, n - k - 1);
    }
    for (int j = 0; j < n; ++j) found.vectors(i, j) = u[j];
  }
  return found;
}

TridiagonalEnds tridiagonal_ends(std::vector<double> diagonal, std::vector<double> off) {
  const double scale = std::max(scale_of(diagonal), scale_of(off));
  for (double& element : diagonal) element /= scale;
  for (double& element : off) element /= scale;
  const int n = int(diagonal.size());
  RealMatrix rows(n, 2);
  if (n > 0) rows.row(0)[0] = rows.row(n - 1)[1] = 1;
  implicit_ql(diagonal, std::move(off), rows);
  TridiagonalEnds found;
  for (const int from : ascending(diagonal)) {
    found.values.push_back(diagonal[std::size_t(from)] * scale);
    found.first.push_back(rows.row(from)[0]);
    found.last.push_back(rows.row(from)[1]);
  }
  return found;
}

}  // namespace staghorn
