// The space of a basis of blocks, and what a residual looks like in it: Q = P E(m)^-1 P^+. One object for all masses.
#pragma once

#include <optional>

#include "dirac/operators/staggered_operator.hpp"
#include "solver/krylov/coarse/coarse_pairs.hpp"

namespace staghorn {

class CoarseSpace {
 public:
  static constexpr int most_pairs = 64;  // of E(0)

  // Makes E(0) and its lowest pairs from an orthonormal basis, for fields in `space`; links and basis as for
  // CoarseMatrix. `communicator` must outlive the object. Throws Error where there is no memory. Collective.
  CoarseSpace(const Communicator& communicator, const OperatorLinks& links, const Boundary& boundary, BlockBasis basis,
              MemorySpace space = MemorySpace::host, int pairs = most_pairs);

  const BlockBasis& basis() const { return basis_; }
  const CoarseMatrix& matrix() const { return matrix_; }
  const CoarsePairs& pairs() const { return pairs_; }

  // x = E(m)^-1 b until |b - E(m) x| <= tolerance |b| for each right-hand side, shift = 4m^2 (coarse_solve.hpp).
  // Collective.
  void solve(double shift, const CoarseVector& b, CoarseVector& x, double tolerance);
  // correction = Q r, for fields of `d` on even sites. Collective.
  void correct(const StaggeredOperator& d, double shift, const ColorVectorField& r, double tolerance,
               ColorVectorField& correction);

  // What it has been used for since reset_use, and the seconds of this rank.
  struct Use {
    long solves = 0, iterations = 0;  // of coarse CG: those of the right-hand side that took most
    long products = 0;                // with A besides those of the iterations: who makes them counts them
    double seconds = 0;
  };
  const Use& use() const { return use_; }
  void count_products(long products) { use_.products += products; }
  void reset_use() { use_ = {}; }

  std::int64_t bytes() const { return basis_.bytes() + matrix_.bytes() + pairs_.bytes(); }  // this rank
  static double predicted_bytes(const BlockGrid& grid, Stencil stencil, int n);
  // While it is made, besides.
  static double predicted_set_up_bytes(const BlockGrid& grid, Stencil stencil, int n);
  // Of the work with so many right-hand sides.
  static double predicted_work_bytes(const BlockGrid& grid, int n, int n_rhs);

 private:
  BlockBasis basis_;
  CoarseMatrix matrix_;
  CoarsePairs pairs_;
  Use use_;
  std::optional<VectorField> plain_;  // on a GPU, between its layout and that of the basis
};

}  // namespace staghorn
