#include "solver/krylov/block/block_algebra.hpp"

#include "dirac/algebra/block_cholesky.hpp"

namespace staghorn {

BlockAlgebra::BlockAlgebra(const StaggeredOperator& d) : algebra_(d.communicator(), d.layout(), d.kernels()) {}

ComplexMatrix BlockAlgebra::gram(const ColorVectorField& v, ColumnScales* scales,
                                 const std::function<void()>& meanwhile) const {
  const ColorVectorField* fields[] = {&v};
  return algebra_.gram(fields, scales, meanwhile);
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
  algebra_.combine(from, stacked(coefficients), targets, {}, 0);
}

void BlockAlgebra::combine(std::span<const ColorVectorField* const> vectors, std::initializer_list<Sum> sums,
                           const ComplexMatrix& of_grown, ColorVectorField& grown) const {
  std::vector<ColorVectorField*> targets;
  std::vector<ComplexMatrix> parts;
  int rows = 0, columns = of_grown.columns;
  for (const Sum& sum : sums) {
    targets.push_back(&sum.to);
    parts.push_back(stacked(sum.coefficients));
    rows = parts.back().rows, columns += parts.back().columns;
  }
  ComplexMatrix all(rows, columns);
  int first = 0;  // column
  const auto put = [&](const ComplexMatrix& part, int first_row) {
    for (int i = 0; i < part.rows; ++i)
      for (int j = 0; j < part.columns; ++j) all(first_row + i, first + j) = part(i, j);
    first += part.columns;
  };
  for (const ComplexMatrix& part : parts) put(part, 0);
  put(of_grown, rows - of_grown.rows);
  ColorVectorField* growing[] = {&grown};
  algebra_.combine(vectors, all, targets, growing, rows - of_grown.rows);
}

}  // namespace staghorn
