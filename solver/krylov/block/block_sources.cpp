#include "solver/krylov/block/block_sources.hpp"

#include "dirac/algebra/block_cholesky.hpp"
#include "solver/krylov/block/block_iteration.hpp"
#include "solver/request/sources.hpp"

namespace staghorn {

namespace {

constexpr std::uint64_t noise_seed = 0x626c6f636b4347;  // any number that users are not likely to take

}  // namespace

BlockSources::BlockSources(const BlockAlgebra& algebra, const ColorVectorField& b)
    : composition_(b.n_rhs(), b.n_rhs()) {
  const BlockFactor factor = block_cholesky(algebra.gram(b), least_pivot);
  all_zero_ = factor.rank == 0;
  const ComplexMatrix composed = product(factor.inverse, factor.rho);
  for (int j = 0; j < b.n_rhs(); ++j) {
    if (factor.kept[std::size_t(j)]) {
      composition_(j, j) = {1, 0};
      continue;
    }
    dependent_.push_back(j);
    for (int i = 0; i < j; ++i) composition_(i, j) = composed(i, j);
  }
}

void BlockSources::put_noise(const Communicator& communicator, Parity parity, ColorVectorField& v) const {
  if (all_zero_) return;
  for (const int j : dependent_) {
    SourceRequest noise;
    noise.spec.kind = SourceKind::z2;
    noise.spec.seed = noise_seed + std::uint64_t(j);
    v.pack(parity, j, make_sources(communicator, v.layout().lattice(), noise).fields.front());
  }
}

void BlockSources::compose(const BlockAlgebra& algebra, ColorVectorField& x, ColorVectorField& spare) const {
  if (dependent_.empty()) return;
  algebra.combine({{x, composition_}}, spare);
  x.copy_from(spare);
}

}  // namespace staghorn
