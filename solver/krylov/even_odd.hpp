// One pass of even-odd Conjugate Gradient at the precision of the fast operator: an approximate solution of
//   M x = b:  A x_e = 2m b_e - D_eo b_o,  then  x_o = (b_o - D_oe x_e) / 2m    [DeGrand & Rossi 1990]
//   A x = b:  on the sites of one parity; the other sites are neither read nor changed.
// For M the odd equation holds exactly, so the full residual is |b - M x| = |b' - A x_e| / 2m: norms here are of the
// residual of the system that was asked for, whichever it is.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <variant>
#include <vector>

#include "solver/krylov/conjugate_gradient.hpp"
#include "solver/krylov/cublas_conjugate_gradient.hpp"
#include "solver/krylov/reliable_updates.hpp"
#include "solver/request/solve_request.hpp"

namespace staghorn {

class EvenOddPass {
 public:
  // Makes all vectors, of d.n_rhs() right-hand sides each; solve after solve uses them. `d` must outlive the pass.
  // With `sloppy` the iterations run on it, with reliable updates on `d`; with `cublas` they are those of the baseline,
  // on the GPU. Local.
  EvenOddPass(StaggeredOperator& d, StaggeredOperator* sloppy, const Cublas* cublas);

  // Solves nothing, so that a GPU has its kernels, graphs and buffers before a solve that is timed. Collective.
  void rehearse(System system);

  // Begins a pass: no right-hand side has a source. The first for the full system makes one vector more. Local.
  void begin(double mass, System system);

  // Takes a source of norm |b|, scales it to about 1 by a power of two (which changes no bit of a mantissa) and rounds
  // it to the precision of the operator. A right-hand side without a source stays zero. Local.
  void set_source(int rhs, const VectorField& b, double norm);
  // Solves from a zero guess until |b - M x| <= target_norm (absolute) for every right-hand side. Collective.
  CgResult solve(std::vector<double> target_norm, long max_iterations,
                 const std::function<void(const CgProgress&)>& progress);
  // x += the solution, in double precision. Local.
  void add_solution(int rhs, VectorField& x) const;

  std::int64_t vector_bytes() const;  // of all vectors; this rank

 private:
  StaggeredOperator& d_;
  StaggeredOperator* sloppy_;
  const Cublas* cublas_;
  double mass_ = 0;
  System system_ = System::even;
  Parity parity_ = Parity::even;           // where CG works
  std::vector<double> scale_;              // of each right-hand side: x_ and b_ hold scale times the real thing
  ColorVectorField x_, b_;                 // on parity_
  std::optional<ColorVectorField> other_;  // on the other parity: b_o, then x_o; once the full system was asked for
  bool other_has_source_ = false;          // some b_o is not 0, here
  std::variant<CgVectors, ReliableVectors, CublasVectors> work_;
};

}  // namespace staghorn
