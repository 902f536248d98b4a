// A polynomial of K = -D^2 that makes low eigenvalues large: the Chebyshev polynomial whose interval holds the others.
//
//   T(K) = T_n(x(K)),   x(lambda) = (from + to - 2 lambda) / (to - from)
//
// |T| <= 1 between `from` and `to`; below `from` T grows as lambda falls, so there it orders eigenvalues and has an
// inverse. [Saad, Numerical Methods for Large Eigenvalue Problems, section 7.4]
#pragma once

#include <span>

#include "dirac/operators/staggered_operator.hpp"

namespace staghorn {

class ChebyshevFilter {
 public:
  // 0 <= from < to; degree >= 1. Degree 1 orders all eigenvalues, above `from` too. Local.
  ChebyshevFilter(double from, double to, int degree);

  double from() const { return from_; }
  double to() const { return to_; }
  int degree() const { return degree_; }

  double value(double lambda) const;
  // Whether `value` tells the eigenvalue.
  bool is_ordered(double value) const { return degree_ == 1 || value > 1; }
  // The eigenvalue at which T has this value, for values that are ordered; other values give `from`.
  double eigenvalue(double value) const;
  // |K y - lambda y| is at most this times |T y - theta y| for a vector y whose error lies above `from`, where theta is
  // the value at lambda: the largest of |mu - lambda| / |T(mu) - theta| for mu in the interval.
  double residual_factor(double theta, double lambda) const {
    return degree_ == 1 ? half_width_ : (to_ - lambda) / (theta - 1);
  }

  // Vectors that `apply` works with: of the operator, on the parity of the vectors and, `other`, on the opposite one.
  struct Work {
    explicit Work(const StaggeredOperator& d) : next(d.make_vector()), other(d.make_vector()) {}
    ColorVectorField next, other;
  };
  // out = T(K) in, on `parity`; `degree` applications of K, each two hops with the recurrence
  //   t_{j+1} = 2 x(K) t_j - t_{j-1}
  // fused into the second one, for all right-hand sides of the operator. Collective.
  void apply(StaggeredOperator& d, Parity parity, const ColorVectorField& in, ColorVectorField& out, Work& work) const;

 private:
  double position(double lambda) const { return (centre_ - lambda) / half_width_; }

  double from_, to_, centre_, half_width_;
  int degree_;
};

}  // namespace staghorn
