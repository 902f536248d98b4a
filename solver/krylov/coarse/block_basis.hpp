// P: vectors on even sites cut into blocks, orthonormal in each block. n columns on each block, P^+ P = 1.
//
// Columns are made orthogonal in the order of the vectors, each twice ("twice is enough", Parlett). A piece that
// depends on those before it, as of a vector that is given twice or vanishes on a block, becomes a column of zeros: it
// adds nothing to the space and harms nothing. Sums go over the sites of a block in one order. fp64. Columns are made
// on the host, and can then move to a GPU, which takes fields there.
#pragma once

#include "dirac/fields/site_field.hpp"
#include "solver/krylov/coarse/block_grid.hpp"
#include "solver/krylov/coarse/vectors/coarse_vector.hpp"

namespace staghorn {

struct CudaBasis;

class BlockBasis {
 public:
  static constexpr Parity parity = Parity::even;

  // Makes n columns of zeros. Throws Error where a block has not so many components. Local.
  BlockBasis(const BlockGrid& grid, int n);

  const BlockGrid& grid() const { return grid_; }
  int n() const { return n_; }
  std::int64_t bytes() const { return std::int64_t(numbers_.bytes() + origins_.bytes() + offsets_.bytes()); }
  static double predicted_bytes(const BlockGrid& grid, int n);

  // To a GPU, or nowhere. From then on only the products below are there. Local.
  void move_to(MemorySpace space);
  MemorySpace space() const { return numbers_.space(); }

  // Column k <- the even sites of a field, before anything is made orthogonal. Local.
  void set_column(int k, const VectorField& v);
  // Makes the columns orthonormal. Returns how many became zero, over all blocks of this rank. Local.
  std::int64_t orthonormalize();

  // Even sites of v <- column k of all blocks. Odd ones are left alone. Local.
  void column(int k, VectorField& v) const;

  // c = P^+ v; v = P c on even sites, of one right-hand side. Both lie where the basis does. Local.
  void restrict_to(const VectorField& v, CoarseVector& c, int rhs) const;
  void prolong(const CoarseVector& c, int rhs, VectorField& v) const;

 private:
  std::int64_t width() const { return padded(3 * grid_.sites()); }
  double* at(std::int64_t block, int k) {
    return reinterpret_cast<double*>(numbers_.data()) + (block * n_ + k) * 2 * width();
  }
  const double* at(std::int64_t block, int k) const { return const_cast<BlockBasis*>(this)->at(block, k); }
  CudaBasis on_gpu() const;
  void gather(const VectorField& v, std::int64_t block, double* to) const;
  void scatter(const double* from, std::int64_t block, VectorField& v) const;

  BlockGrid grid_;
  int n_;
  Buffer numbers_;            // [block][column][re, im][3 sites, padded]
  Buffer origins_, offsets_;  // on a GPU: of the sites of a block (CudaBasis)
};

}  // namespace staghorn
