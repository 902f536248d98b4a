#include "solver/krylov/coarse/coarse_space.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "halo/watch/activity.hpp"
#include "halo/watch/stopwatch.hpp"
#include "solver/krylov/preconditioned/flexible_cg_loop.hpp"

namespace staghorn {

namespace {

constexpr long most_iterations = 10000;
constexpr int work_vectors = 9;  // x, b, four of flexible CG, the product, a direction, and those of other ranks

double bytes_of(const BlockGrid& grid, int n, int n_rhs) {
  return double(grid.count()) * n_rhs * 2 * double(padded(n)) * sizeof(double);
}

}  // namespace

CoarseSpace::CoarseSpace(const Communicator& communicator, const OperatorLinks& links, const Boundary& boundary,
                         BlockBasis basis, int pairs)
    : basis_(std::move(basis)),
      matrix_(communicator, links, boundary, basis_),
      pairs_(find_coarse_pairs(matrix_, pairs)) {}

double CoarseSpace::predicted_bytes(const BlockGrid& grid, Stencil stencil, int n) {
  const double pairs = double(std::min<std::int64_t>(most_pairs, grid.global_count() * n / 4));
  return BlockBasis::predicted_bytes(grid, n) + CoarseMatrix::predicted_bytes(grid, stencil, n) +
         pairs * bytes_of(grid, n, 1);
}

double CoarseSpace::predicted_set_up_bytes(const BlockGrid& grid, Stencil stencil, int n) {
  return std::max(CoarseMatrix::predicted_set_up_bytes(grid, stencil, n),
                  coarse_search_vectors(most_pairs) * bytes_of(grid, n, 1));
}

double CoarseSpace::predicted_work_bytes(const BlockGrid& grid, int n, int n_rhs) {
  return work_vectors * bytes_of(grid, n, n_rhs);
}

// With theta = t_last + shift:  z = r + sum_i u_i (theta / (t_i + shift) - 1) (u_i, r).  The pairs become theta, where
// the others begin.
void CoarseSpace::precondition(double shift, CoarseVector& z, const CoarseVector& r) const {
  z.copy_from(r);
  if (pairs_.values.empty()) return;
  const double theta = pairs_.values.back() + shift;
  const std::size_t n_rhs = std::size_t(r.n_rhs);
  std::vector<double> numbers;
  std::vector<CoarseVector> wide;  // a pair for each right-hand side
  for (std::size_t rhs = 0; rhs < n_rhs; ++rhs) {
    CoarseVector column(r.blocks, r.n, 1);
    for (std::int64_t b = 0; b < r.blocks; ++b) std::copy(r.at(b, int(rhs)), r.at(b, int(rhs)) + 2 * r.width, column.at(b, 0));
    std::vector<const CoarseVector*> all;
    for (const CoarseVector& u : pairs_.vectors) all.push_back(&u);
    std::vector<Complex<double>> c = coarse_dots(matrix_.communicator(), all, column);
    for (std::size_t i = 0; i < c.size(); ++i) {
      const double value = std::max(pairs_.values[i] + shift, 1e-15 * pairs_.largest), weight = theta / value - 1;
      c[i] = {weight * c[i].re, weight * c[i].im};
    }
#pragma omp parallel for schedule(static)
    for (std::int64_t b = 0; b < r.blocks; ++b)
      for (std::size_t i = 0; i < c.size(); ++i)
        add_scaled(c[i].re, c[i].im, pairs_.vectors[i].at(b, 0), z.at(b, int(rhs)), r.width);
  }
}

void CoarseSpace::solve(double shift, const CoarseVector& b, CoarseVector& x, double tolerance) {
  const Activity activity("coarse solve");
  const Stopwatch watch;
  CoarseSystem system(matrix_, shift, b.n_rhs);
  std::fill(x.numbers.begin(), x.numbers.end(), 0.0);
  CgStop stop;
  stop.max_iterations = most_iterations;
  for (const double b2 : system.dot(b, b)) {
    stop.target_norm.push_back(b2 > 0 ? tolerance * std::sqrt(b2) : met_at_once);
    stop.source_norm2.push_back(b2 > 0 ? b2 : 1);
  }
  FlexibleCgVectors<CoarseVector> work{x, x, x, x};
  const CgResult result = flexible_cg_loop<CoarseVector>(
      system, work, [&](CoarseVector& z, const CoarseVector& r) { precondition(shift, z, r); }, x, b, stop, {});
  long most = 0;
  for (const SolvedRhs& rhs : result.rhs) most = std::max(most, rhs.iterations);
  ++use_.solves;
  use_.iterations += most;
  use_.seconds += watch.seconds();
}

void CoarseSpace::correct(const StaggeredOperator& d, double shift, const ColorVectorField& r, double tolerance,
                          ColorVectorField& correction) {
  CoarseVector b = matrix_.make_vector(r.n_rhs()), x = b;
  VectorField plain(d.lattice());
  for (int rhs = 0; rhs < r.n_rhs(); ++rhs) {
    r.unpack(BlockBasis::parity, rhs, plain);
    basis_.restrict_to(plain, b, rhs);
  }
  solve(shift, b, x, tolerance);
  for (int rhs = 0; rhs < r.n_rhs(); ++rhs) {
    basis_.prolong(x, rhs, plain);
    correction.pack(BlockBasis::parity, rhs, plain);
  }
}

}  // namespace staghorn
