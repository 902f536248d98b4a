// Gram matrices and combinations of fields whose right-hand sides are the columns of a block.
#pragma once

#include <functional>
#include <initializer_list>
#include <span>
#include <vector>

#include "dirac/operators/staggered_operator.hpp"
#include "dirac/operators/vector_algebra.hpp"

namespace staghorn {

// For fields as `d` makes them.
class BlockAlgebra {
 public:
  explicit BlockAlgebra(const StaggeredOperator& d);

  // V^+ V; A^+ B. `scales` belong to the vectors, `meanwhile` is work that need not wait: see VectorAlgebra.
  // Collective.
  ComplexMatrix gram(const ColorVectorField& v, ColumnScales* scales = nullptr,
                     const std::function<void()>& meanwhile = {}) const;
  ComplexMatrix gram(const ColorVectorField& a, const ColorVectorField& b) const;

  struct Term {
    const ColorVectorField& vectors;
    const ComplexMatrix& coefficients;
  };
  // to = sum of vectors coefficients. `to` is none of the vectors. On a GPU it is only queued, as below. Local.
  void combine(std::initializer_list<Term> terms, ColorVectorField& to) const;
  // In one pass: for each sum, to = sum of vectors coefficients, and grown += (the last vectors) of_grown. The last
  // `to` may be one of the vectors, but not the last of them. Local.
  struct Sum {
    std::vector<const ComplexMatrix*> coefficients;  // of each vectors
    ColorVectorField& to;
  };
  void combine(std::span<const ColorVectorField* const> vectors, std::initializer_list<Sum> sums,
               const ComplexMatrix& of_grown, ColorVectorField& grown) const;

 private:
  VectorAlgebra algebra_;
};

}  // namespace staghorn
