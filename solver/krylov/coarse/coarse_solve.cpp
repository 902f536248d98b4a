#include "solver/krylov/coarse/coarse_solve.hpp"

#include <algorithm>
#include <cmath>

#include "solver/krylov/coarse/vectors/cuda_coarse.hpp"

namespace staghorn {

namespace {

using Numbers = std::vector<Complex<double>>;  // one for each right-hand side

double norm2(const Complex<double>& z) { return z.re * z.re + z.im * z.im; }

class Solve {
 public:
  Solve(const CoarseMatrix& matrix, const CoarsePairs& pairs, double shift, int n_rhs)
      : matrix_(matrix), pairs_(pairs), shift_(shift), n_rhs_(std::size_t(n_rhs)) {
    const double theta = pairs.values.empty() ? 1 : pairs.values.back() + shift;
    for (const double value : pairs.values)
      weights_.push_back(theta / std::max(value + shift, 1e-15 * pairs.largest) - 1);
    for (const CoarseVector& u : pairs.vectors) with_.push_back(&u);
  }

  long run(const CoarseVector& b, CoarseVector& x, double tolerance, long most_iterations) {
    CoarseVector r = b, p = matrix_.make_vector(int(n_rhs_)), E_p = p;
    x.set_zero();
    Numbers along;  // (u_i, r): [i][right-hand side]
    std::vector<double> r2 = dots(r, r, {}, along), target, rz, beta(n_rhs_, 0), p_E_p;
    for (const double b2 : r2) target.push_back(tolerance * tolerance * b2);
    rz = weighted(r2, along);
    std::vector<char> active(n_rhs_);
    const auto any = [&] {
      bool found = false;
      for (std::size_t k = 0; k < n_rhs_; ++k) {
        active[k] = r2[k] > target[k];
        found = found || active[k];
      }
      return found;
    };
    long iteration = 0;
    while (any() && iteration < most_iterations) {
      ++iteration;
      next_direction(r, along, beta, active, p);  // p = z + beta p
      matrix_.apply(p, E_p);
      staghorn::add_scaled(Numbers(n_rhs_, {shift_, 0}), p, E_p);
      Numbers change;
      std::vector<double> about;  // (u, E p) is at most sqrt(|E| (p, E p)), and (p, E p) about (r, z)
      for (std::size_t i = 0; i < weights_.size(); ++i)
        for (std::size_t k = 0; k < n_rhs_; ++k) about.push_back(std::sqrt((pairs_.largest + shift_) * rz[k]));
      about.insert(about.end(), rz.begin(), rz.end());
      p_E_p = dots(p, E_p, about, change);
      Numbers alpha(n_rhs_), minus = alpha;
      for (std::size_t k = 0; k < n_rhs_; ++k) {
        if (active[k] && p_E_p[k] > 0) alpha[k].re = rz[k] / p_E_p[k];
        minus[k].re = -alpha[k].re;
        for (std::size_t i = 0; i < weights_.size(); ++i) {
          Complex<double>& c = along[i * n_rhs_ + k];
          const Complex<double>& d = change[i * n_rhs_ + k];
          c = {c.re - alpha[k].re * d.re, c.im - alpha[k].re * d.im};
        }
      }
      staghorn::add_scaled(alpha, p, x);
      staghorn::add_scaled(minus, E_p, r);
      const CoarseVector* const itself[] = {&r};
      const Numbers norms = coarse_dots(matrix_.sums(), itself, r, r2);
      for (std::size_t k = 0; k < n_rhs_; ++k) r2[k] = alpha[k].re > 0 ? norms[k].re : 0;  // 0: broken down, or done
      const std::vector<double> before = std::exchange(rz, weighted(r2, along));
      for (std::size_t k = 0; k < n_rhs_; ++k) beta[k] = before[k] > 0 ? rz[k] / before[k] : 0;
    }
    return iteration;
  }

 private:
  // The real part of (a, b), and (u_i, b), in one message.
  std::vector<double> dots(const CoarseVector& a, const CoarseVector& b, std::span<const double> about,
                           Numbers& along) {
    with_.push_back(&a);
    const Numbers all = coarse_dots(matrix_.sums(), with_, b, about);
    with_.pop_back();
    along.assign(all.begin(), all.end() - std::ptrdiff_t(n_rhs_));
    std::vector<double> real;
    for (std::size_t k = 0; k < n_rhs_; ++k) real.push_back(all[all.size() - n_rhs_ + k].re);
    return real;
  }

  // (r, z)
  std::vector<double> weighted(const std::vector<double>& r2, const Numbers& along) const {
    std::vector<double> sum = r2;
    for (std::size_t i = 0; i < weights_.size(); ++i)
      for (std::size_t k = 0; k < n_rhs_; ++k) sum[k] += weights_[i] * norm2(along[i * n_rhs_ + k]);
    return sum;
  }

  void next_direction(const CoarseVector& r, const Numbers& along, const std::vector<double>& beta,
                      const std::vector<char>& active, CoarseVector& p) const {
    Numbers weighted = along;  // w_i (u_i, r)
    for (std::size_t i = 0; i < weighted.size(); ++i) {
      const double weight = weights_[i / n_rhs_];
      weighted[i] = {weight * along[i].re, weight * along[i].im};
    }
    if (p.space() == MemorySpace::cuda)
      return cuda_next_direction(matrix_.sums(), r, pairs_.vectors, weighted, beta, active, p);
#pragma omp parallel for schedule(static)
    for (std::int64_t block = 0; block < p.blocks; ++block)
      for (std::size_t k = 0; k < n_rhs_; ++k) {
        if (!active[k]) continue;
        double* const to = p.at(block, int(k));
        const double* const from = r.at(block, int(k));
        for (std::int64_t j = 0; j < 2 * p.width; ++j) to[j] = multiply_add(beta[k], to[j], from[j]);
        for (std::size_t i = 0; i < weights_.size(); ++i) {
          const Complex<double>& c = weighted[i * n_rhs_ + k];
          add_scaled(c.re, c.im, pairs_.vectors[i].at(block, 0), to, p.width);
        }
      }
  }

  const CoarseMatrix& matrix_;
  const CoarsePairs& pairs_;
  double shift_;
  std::size_t n_rhs_;
  std::vector<double> weights_;
  std::vector<const CoarseVector*> with_;
};

}  // namespace

long solve_coarse(const CoarseMatrix& matrix, const CoarsePairs& pairs, double shift, const CoarseVector& b,
                  CoarseVector& x, double tolerance, long most_iterations) {
  return Solve(matrix, pairs, shift, b.n_rhs).run(b, x, tolerance, most_iterations);
}

}  // namespace staghorn
