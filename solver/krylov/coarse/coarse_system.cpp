#include "solver/krylov/coarse/coarse_system.hpp"

#include "dirac/algebra/exact_sum.hpp"

namespace staghorn {

namespace {

std::vector<Complex<double>> real(std::span<const double> factor, double sign) {
  std::vector<Complex<double>> complex;
  for (const double f : factor) complex.push_back({sign * f, 0});
  return complex;
}

}  // namespace

std::vector<Complex<double>> coarse_dots(const Communicator& communicator, std::span<const CoarseVector* const> a,
                                         const CoarseVector& b) {
  const std::size_t n_rhs = std::size_t(b.n_rhs), n = a.size() * n_rhs;
  std::vector<double> parts(2 * n * std::size_t(b.blocks));
  std::vector<std::int32_t> groups(parts.size());
#pragma omp parallel for schedule(static)
  for (std::int64_t block = 0; block < b.blocks; ++block)
    for (std::size_t k = 0; k < a.size(); ++k)
      for (std::size_t rhs = 0; rhs < n_rhs; ++rhs) {
        const DensePair product = dot_dense(a[k]->at(block, int(rhs)), b.at(block, int(rhs)), b.width);
        const std::size_t group = 2 * (k * n_rhs + rhs), place = 2 * n * std::size_t(block) + group;
        parts[place] = product.re, parts[place + 1] = product.im;
        groups[place] = std::int32_t(group), groups[place + 1] = std::int32_t(group + 1);
      }
  const std::vector<double> sums = exact_sums(communicator, parts, groups, 2 * n);
  std::vector<Complex<double>> dots;
  for (std::size_t i = 0; i < n; ++i) dots.push_back({sums[2 * i], sums[2 * i + 1]});
  return dots;
}

void add_scaled(std::span<const Complex<double>> factor, const CoarseVector& w, CoarseVector& v) {
#pragma omp parallel for schedule(static)
  for (std::int64_t block = 0; block < v.blocks; ++block)
    for (int rhs = 0; rhs < v.n_rhs; ++rhs)
      add_scaled(factor[std::size_t(rhs)].re, factor[std::size_t(rhs)].im, w.at(block, rhs), v.at(block, rhs), v.width);
}

std::vector<double> CoarseSystem::dot(const CoarseVector& a, const CoarseVector& b) {
  const CoarseVector* const one[] = {&a};
  std::vector<double> parts;
  for (const Complex<double>& product : coarse_dots(matrix_.communicator(), one, b)) parts.push_back(product.re);
  return parts;
}

std::vector<double> CoarseSystem::product(const CoarseVector& p, std::span<const double>, std::span<ExactSum>) {
  apply(p, A_p_);
  return dot(p, A_p_);
}

std::vector<double> CoarseSystem::update_residual(CoarseVector& r, const CoarseVector&, std::span<const double> alpha,
                                                  std::span<ExactSum>) {
  add_scaled(real(alpha, -1), A_p_, r);
  return dot(r, r);
}

std::vector<double> CoarseSystem::update_direction(CoarseVector& x, CoarseVector& p, const CoarseVector& z,
                                                   std::span<const double> alpha, std::span<const double> beta,
                                                   std::span<ExactSum>) {
  add_scaled(real(alpha, 1), p, x);
  CoarseVector next = z;
  add_scaled(real(beta, 1), p, next);
  p = std::move(next);
  return dot(p, p);
}

void CoarseSystem::apply(const CoarseVector& in, CoarseVector& out) const {
  matrix_.apply(in, out);
  add_scaled(std::vector<Complex<double>>(std::size_t(in.n_rhs), {shift_, 0}), in, out);
}

}  // namespace staghorn
