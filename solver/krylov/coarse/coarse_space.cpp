#include "solver/krylov/coarse/coarse_space.hpp"

#include <algorithm>
#include <utility>

#include "halo/watch/activity.hpp"
#include "halo/watch/stopwatch.hpp"
#include "solver/krylov/coarse/coarse_solve.hpp"

namespace staghorn {

namespace {

constexpr long most_iterations = 10000;
constexpr int work_vectors = coarse_solve_vectors + 3;  // x, b, and at most as many numbers from other ranks

double bytes_of(const BlockGrid& grid, int n, int n_rhs) {
  return double(grid.count()) * n_rhs * 2 * double(padded(n)) * sizeof(double);
}

}  // namespace

CoarseSpace::CoarseSpace(const Communicator& communicator, const OperatorLinks& links, const Boundary& boundary,
                         BlockBasis basis, MemorySpace space, int pairs)
    : basis_(std::move(basis)),
      matrix_(communicator, links, boundary, basis_, space),
      pairs_(find_coarse_pairs(matrix_, pairs)) {
  communicator.agree([&] { basis_.move_to(space); });
}

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

void CoarseSpace::solve(double shift, const CoarseVector& b, CoarseVector& x, double tolerance) {
  const Activity activity("coarse solve");
  const Stopwatch watch;
  ++use_.solves;
  use_.iterations += solve_coarse(matrix_, pairs_, shift, b, x, tolerance, most_iterations);
  use_.seconds += watch.seconds();
}

void CoarseSpace::correct(const StaggeredOperator& d, double shift, const ColorVectorField& r, double tolerance,
                          ColorVectorField& correction) {
  CoarseVector b = matrix_.make_vector(r.n_rhs()), x = b;
  if (!plain_) plain_.emplace(d.lattice(), basis_.space());
  for (int rhs = 0; rhs < r.n_rhs(); ++rhs) {
    r.unpack(BlockBasis::parity, rhs, *plain_);
    basis_.restrict_to(*plain_, b, rhs);
  }
  solve(shift, b, x, tolerance);
  for (int rhs = 0; rhs < r.n_rhs(); ++rhs) {
    basis_.prolong(x, rhs, *plain_);
    correction.pack(BlockBasis::parity, rhs, *plain_);
  }
}

}  // namespace staghorn
