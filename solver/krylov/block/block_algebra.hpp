// Gram matrices and combinations of fields whose right-hand sides are the columns of a block.
#pragma once

#include <initializer_list>

#include "dirac/operators/staggered_operator.hpp"
#include "dirac/operators/vector_algebra.hpp"

namespace staghorn {

// For fields as `d` makes them.
class BlockAlgebra {
 public:
  explicit BlockAlgebra(const StaggeredOperator& d);

  // V^+ V; A^+ B. `scales` belong to the vectors: see VectorAlgebra. Collective.
  ComplexMatrix gram(const ColorVectorField& v, ColumnScales* scales = nullptr) const;
  ComplexMatrix gram(const ColorVectorField& a, const ColorVectorField& b) const;

  struct Term {
    const ColorVectorField& vectors;
    const ComplexMatrix& coefficients;
  };
  // to = sum of vectors coefficients. `to` is none of the vectors. Local.
  void combine(std::initializer_list<Term> terms, ColorVectorField& to) const;
  // to = a coefficients + b coefficients, and grown += b of_grown, in one pass. Local.
  void combine(const Term& a, const Term& b, ColorVectorField& to, const ComplexMatrix& of_grown,
               ColorVectorField& grown) const;

 private:
  VectorAlgebra algebra_;
};

}  // namespace staghorn
