// One pass of even-odd Conjugate Gradient at the precision of the fast operator: an approximate solution of
//   M x = b:  A x_e = 2m b_e - D_eo b_o,  then  x_o = (b_o - D_oe x_e) / 2m    [DeGrand & Rossi 1990]
//   A x = b:  on the sites of one parity; the other sites are neither read nor changed.
// For M the odd equation holds exactly, so the full residual is |b - M x| = |b' - A x_e| / 2m: norms here are of the
// residual of the system that was asked for, whichever it is.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "solver/conjugate_gradient.hpp"
#include "solver/cublas.hpp"
#include "solver/solve_request.hpp"

namespace staghorn {

class EvenOddPass {
 public:
  // Vectors of d.n_rhs() right-hand sides, zero. `d` must outlive the pass. Local.
  // With `sloppy` the iterations run on it, with reliable updates on `d`.
  // With `cublas` they are those of the baseline, on the GPU.
  EvenOddPass(StaggeredOperator& d, StaggeredOperator* sloppy, const Cublas* cublas, double mass, System system);

  // Takes a source of norm |b|, scales it to about 1 by a power of two (which changes no bit of a mantissa) and rounds
  // it to the precision of the operator. A right-hand side without a source stays zero. Local.
  void set_source(int rhs, VectorField b, double norm);
  // Solves from a zero guess until |b - M x| <= target_norm (absolute) for every right-hand side. Collective.
  std::vector<CgColumn> solve(std::vector<double> target_norm, long max_iterations,
                              const std::function<void(const CgProgress&)>& progress);
  // x += the solution, in double precision. Local.
  void add_solution(int rhs, VectorField& x) const;

  std::int64_t vector_bytes() const;  // this rank, with the three vectors of CG itself

 private:
  StaggeredOperator& d_;
  StaggeredOperator* sloppy_;
  const Cublas* cublas_;
  double mass_;
  System system_;
  Parity parity_;                          // where CG works
  std::vector<double> scale_;              // of each right-hand side: x_ and b_ hold scale times the real thing
  ColorVectorField x_, b_;                 // on parity_
  std::optional<ColorVectorField> other_;  // on the other parity: b_o, then x_o; only for the full system
};

}  // namespace staghorn
