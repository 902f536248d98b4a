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

void BlockAlgebra::combine(std::initializer_list<Term> terms, ColorVectorField& to) const {
  std::vector<const ColorVectorField*> from;
  std::vector<const ComplexMatrix*> coefficients;
  for (const Term& term : terms) {
    from.push_back(&term.vectors);
    coefficients.push_back(&term.coefficients);
  }
  ColorVectorField* targets[] = {&to};
  algebra_.combine(from, stacked(coefficients), targets);
}

void BlockAlgebra::combine(const Term& a, const Term& b, ColorVectorField& to, const ComplexMatrix& of_grown,
                           ColorVectorField& grown) const {
  const ColorVectorField* from[] = {&a.vectors, &b.vectors};
  ColorVectorField *targets[] = {&to}, *growing[] = {&grown};
  const ComplexMatrix* parts[] = {&a.coefficients, &b.coefficients};
  const ComplexMatrix first = stacked(parts);
  ComplexMatrix all(first.rows, first.columns + of_grown.columns);
  for (int i = 0; i < all.rows; ++i) {
    for (int j = 0; j < first.columns; ++j) all(i, j) = first(i, j);
    for (int j = 0; i >= a.coefficients.rows && j < of_grown.columns; ++j)
      all(i, first.columns + j) = of_grown(i - a.coefficients.rows, j);
  }
  algebra_.combine(from, all, targets, growing, a.coefficients.rows);
}

}  // namespace staghorn
