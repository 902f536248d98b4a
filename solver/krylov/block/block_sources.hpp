// Right-hand sides of a block that are zero or depend on others: noise takes their places, so that the block keeps its
// number of directions, and their solutions are composed of those of the others.
#pragma once

#include <vector>

#include "halo/communicator.hpp"
#include "solver/krylov/block/block_algebra.hpp"

namespace staghorn {

class BlockSources {
 public:
  // Finds the dependent right-hand sides of b. Collective.
  BlockSources(const BlockAlgebra& algebra, const ColorVectorField& b);

  bool any_dependent() const { return !dependent_.empty(); }
  // b_j = sum_i b_i c_ij; for those that stand for themselves column j is that of the unit matrix.
  const ComplexMatrix& composition() const { return composition_; }
  // Puts noise into the places of dependent right-hand sides: the same numbers at each call and on every process grid.
  // Not where all are zero. Takes one plain field on the host for the time of the call. Local.
  void put_noise(const Communicator& communicator, Parity parity, ColorVectorField& v) const;
  // x_j = sum_i x_i c_ij, by way of `spare`. Local.
  void compose(const BlockAlgebra& algebra, ColorVectorField& x, ColorVectorField& spare) const;

 private:
  std::vector<int> dependent_;
  ComplexMatrix composition_;
  bool all_zero_ = true;
};

}  // namespace staghorn
