#include "solver/krylov/block/block_algebra.hpp"

#include "dirac/algebra/block_cholesky.hpp"

namespace staghorn {

BlockAlgebra::BlockAlgebra(const StaggeredOperator& d) : algebra_(d.communicator(), d.layout(), d.kernels()) {}

ComplexMatrix BlockAlgebra::gram(const ColorVectorField& v, ColumnScales* scales) const {
  const ColorVectorField* fields[] = {&v};
  return algebra_.gram(fields, scales);
}

ComplexMatrix BlockAlgebra::gram(const ColorVectorField& a, const ColorVectorField& b) const {
  const ColorVectorField *left[] = {&a}, *right[] = {&b};
  return algebra_.gram(left, right);
}

void BlockAlgebra::combine(std::initializer_list<Term> terms, ColorVectorField& to, bool add) const {
  std::vector<const ColorVectorField*> from;
  std::vector<const ComplexMatrix*> coefficients;
  for (const Term& term : terms) {
    from.push_back(&term.vectors);
    coefficients.push_back(&term.coefficients);
  }
  ColorVectorField* targets[] = {&to};
  algebra_.combine(from, stacked(coefficients), targets, add);
}

}  // namespace staghorn
