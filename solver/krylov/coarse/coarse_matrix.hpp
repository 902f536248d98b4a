// E(0) = P^+ K P = W^+ W, W = D_oe P, K = -D^2 on even sites: the matrix of a grid of blocks, dense n x n for each pair
// of blocks that two hops join. Hermitian and not negative. A = 4m^2 + K of each mass has
//
//   E(m) = P^+ A P = E(0) + 4m^2        (P^+ P = 1)
//
// so one E(0) serves all masses. It is made from the plain links, fp64, as a sum over odd sites: first within the block
// in which a site lies, then over these blocks in one order. So its bits do not depend on ranks or threads. Stored it
// is in fp32, on the host or on a GPU, and multiplies vectors in fp64: it preconditions, and rounding it moves
// eigenvalues by less than 1e-6 of the largest.
#pragma once

#include <memory>

#include "dirac/stencil/boundary.hpp"
#include "dirac/stencil/operator_links.hpp"
#include "halo/communicator.hpp"
#include "solver/krylov/coarse/block_basis.hpp"
#include "solver/krylov/coarse/block_messages.hpp"

namespace staghorn {

// Which blocks a hop and two hops join, as steps in the grid of blocks. The same for each block. Local.
struct BlockStencil {
  BlockStencil(const BlockGrid& grid, Stencil stencil);

  // Steps to the blocks from which hops come into a block, its own first; and to the blocks that share an odd site.
  std::vector<Coordinates> hops, pairs;
  // Odd site i of a block reads blocks hops[slots[i][.]], ascending; `first[i]` counts those of the sites before it.
  std::vector<std::vector<int>> slots;
  std::vector<std::int32_t> first;
  std::int32_t entries = 0;
  std::vector<std::vector<int>> slot_of_leg;            // [i][number of the leg]: the place in `hops`
  std::vector<std::vector<std::vector<RowPair>>> rows;  // [a][b]: entries of the sites that read both hops a and b
  std::vector<std::vector<int>> pair_of;                // [a][b]: the place in `pairs` of hops[b] - hops[a]
};

class CoarseMatrix {
 public:
  // Makes E(0), on the host, and keeps it in `space`, where its vectors lie too. Links and the basis, which is
  // orthonormal, lie on the host. Throws Error where there is no memory. Collective.
  CoarseMatrix(const Communicator& communicator, const OperatorLinks& links, const Boundary& boundary,
               const BlockBasis& basis, MemorySpace space = MemorySpace::host);

  // out = E(0) in, for each right-hand side. Collective.
  void apply(const CoarseVector& in, CoarseVector& out) const;
  CoarseVector make_vector(int n_rhs) const { return {grid_.count(), n_, n_rhs, space()}; }

  const Communicator& communicator() const { return communicator_; }
  const CoarseSums& sums() const { return sums_; }  // of its vectors
  const BlockGrid& grid() const { return grid_; }
  int n() const { return n_; }
  MemorySpace space() const { return numbers_.space(); }
  int neighbours() const { return int(stencil_.pairs.size()); }  // blocks in a row, its own included
  std::int64_t bytes() const { return std::int64_t(numbers_.bytes()); }
  // Of the matrix, and of W and fields while it is made.
  static double predicted_bytes(const BlockGrid& grid, Stencil stencil, int n);
  static double predicted_set_up_bytes(const BlockGrid& grid, Stencil stencil, int n);

 private:
  using Hops = std::vector<double>;  // W: [block][entry][colour][re, im][width]
  Hops hops(const OperatorLinks& links, const Boundary& boundary, const BlockBasis& basis) const;
  // The share of block `at` of odd sites in the rows of the block that is hops[a] from it: [place in hops][matrix].
  void share(const Hops& w, std::int64_t at, int a, double* to) const;
  // Rows of all blocks, in fp32.
  void add_shares(const Hops& w, float* rows);
  void find_neighbours();
  std::int64_t matrix_size() const { return 2 * width_ * n_; }
  const float* at(std::int64_t block, int pair) const {
    return reinterpret_cast<const float*>(numbers_.data()) + (block * neighbours() + pair) * matrix_size();
  }
  void exchange_ghosts(const CoarseVector& in) const;

  const Communicator& communicator_;
  BlockGrid grid_;
  BlockStencil stencil_;
  int n_;
  std::int64_t width_;
  Buffer numbers_;                       // fp32: [block][pair][column][re, im][width]
  Buffer neighbours_on_gpu_;             // as below
  std::vector<std::int64_t> neighbour_;  // [block][pair]: a block of this rank, or after these one that was received
  std::vector<std::int64_t> received_;   // their global indices, ascending
  std::unique_ptr<BlockMessages> messages_;
  CoarseSums sums_;
  mutable std::vector<double> ghosts_;
  mutable Buffer ghosts_on_gpu_;
};

}  // namespace staghorn
