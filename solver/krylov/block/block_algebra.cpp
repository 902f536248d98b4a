#include "solver/krylov/block/block_algebra.hpp"

#include "dirac/algebra/block_cholesky.hpp"
#include "dirac/kernels/kernel_table.hpp"

namespace staghorn {

namespace {

const KernelTable& kernels_of(const StaggeredOperator& d) {
  return d.options().cuda_device >= 0 ? cuda_kernels() : cpu_kernels(d.kernel_set());
}

}  // namespace

BlockAlgebra::BlockAlgebra(const StaggeredOperator& d) : algebra_(d.communicator(), d.layout(), kernels_of(d)) {}

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
