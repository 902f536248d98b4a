// The iterations of block Conjugate Gradient in one precision: Dubrulle's form (block_conjugate_gradient.hpp).
#pragma once

#include <optional>

#include "dirac/algebra/block_cholesky.hpp"
#include "solver/krylov/block/block_algebra.hpp"
#include "solver/krylov/krylov_solver.hpp"
#include "solver/krylov/rhs_ledger.hpp"

namespace staghorn {

// Squared distance over squared norm below which a vector counts as dependent on others: it is lost in rounding.
inline constexpr double least_pivot = 1e-14;

// Q is not stored but Y and W with Q = Y W, so that no pass is needed to normalise it. In fp64 W is foreseen before Y
// is made, from Gram matrices of D P and D D P, as communication-avoiding CG does it [Chronopoulos & Gear 1989], and Y,
// P and x are made in one pass. What is foreseen takes orthogonalities for granted, and rounding spoils them as the
// residual falls; before that an iteration takes nothing for granted.
//
// Vectors that an iteration moves besides two hops of all n right-hand sides: 2 n for Gram matrices and 7 n for Y, P
// and x; where W is not foreseen 4 n for Y and 5 n for P and x.
class BlockIteration {
 public:
  // Makes four fields like those of `d`. Local.
  explicit BlockIteration(StaggeredOperator& d);

  // Of them y() takes the residuals at the start. Between solves all four are free for other work.
  ColorVectorField& y() { return y_; }
  ColorVectorField& p() { return p_; }
  ColorVectorField& tmp() { return tmp_; }

  // Residuals B = Y S, with Y in y(), whose columns need not be orthonormal, from now on. The first directions are
  // P = Q. Collective.
  void begin(const ComplexMatrix& s);
  // Residuals B = T S', with T in tmp(), take the place of Q S, and the search goes on: as with one right-hand side,
  // the directions keep P - Q, times the factor from Q S to these residuals, but for its part along the new Q. Returns
  // E^+ E, where E = T S' S^-1 - Q is what Q was off by. Collective.
  ComplexMatrix replace(const ComplexMatrix& s);
  // One iteration; x has the precision of the other vectors. Returns false where no direction can be used: A is not
  // positive there, or a number overflowed. Collective.
  bool advance(const ParitySystem& system, ColorVectorField& x);

  void visit(const Archive& archive);  // all that it knows besides y() and p()

  const ComplexMatrix& s() const { return s_; }  // B - A X = Q S
  long foreseen() const { return foreseen_; }    // iterations whose W was foreseen
  std::int64_t bytes() const { return y_.bytes() + p_.bytes() + tmp_.bytes() + hop_.bytes(); }

 private:
  // The factor of the next Y, Y = Q rho, before it is made, or nothing where rounding would spoil it. `al` is the
  // inverse of P^+ A P, `A_p_A_p` (A P)^+ A P. Keeps the drift. Local.
  std::optional<BlockFactor> foresee(const ComplexMatrix& al, const ComplexMatrix& A_p_A_p);
  // The next Y, P, W and x. The latter looks at Y, and returns rho. Collective.
  void move_at_once(const BlockFactor& next, const ComplexMatrix& al, double shift, ColorVectorField& x);
  ComplexMatrix move_in_steps(const ComplexMatrix& al, double shift, const ComplexMatrix* inverse, ColorVectorField& x);
  // Y = Q rho; then W is such that Q = Y W, where Y may have become another. Collective.
  ComplexMatrix orthonormalize();
  void take_directions(bool kept);  // P is new. Collective.

  ColorVectorField y_, p_, tmp_, hop_;
  BlockAlgebra algebra_;
  ComplexMatrix w_, s_, p_p_;  // p_p_: P^+ P
  std::vector<bool> kept_;     // columns of Q that are not zero
  ColumnScales y_scales_, p_scales_, tmp_scales_, hop_scales_;
  double drift_ = 0;           // about so much Q deviates from orthonormal
  bool was_foreseen_ = false;  // W was
  long foreseen_ = 0;
  long since_refresh_ = 0;        // of p_p_
  bool kept_directions_ = false;  // of the next iteration: P was made with another Q
};

}  // namespace staghorn
