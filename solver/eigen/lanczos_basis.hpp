// The orthonormal vectors of a Lanczos iteration on the sites of one parity: made orthogonal twice to all others by
// exact dot products, rotated at restarts, drawn at random where an iteration begins.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "dirac/algebra/complex_matrix.hpp"
#include "dirac/operators/staggered_operator.hpp"
#include "dirac/operators/vector_algebra.hpp"
#include "solver/search/search_keeper.hpp"

namespace staghorn {

class LanczosBasis {
 public:
  // Makes `size` vectors of `d`, which has one right-hand side. `seed` of the random ones. Throws Error where there is
  // no memory. Collective.
  LanczosBasis(StaggeredOperator& d, Parity parity, int size, std::uint64_t seed);

  ColorVectorField& operator[](int i) { return vectors_[std::size_t(i)]; }
  int size() const { return int(vectors_.size()); }
  std::int64_t bytes() const;  // this rank
  const VectorAlgebra& algebra() const { return algebra_; }

  // What a block of `count` vectors w_j was, in terms of vectors before it and those that stand there now:
  //   along(i, j) = (v_{n-count+i}, w_j);  w_j - (its part in v_0 ... v_{n-1}) = sum_{i<=j} v_{n+i} triangle(i, j)
  struct Block {
    ComplexMatrix along, triangle;
    int count = 0;  // vectors that are there now
    int drawn = 0;  // of them at random, where one of the block depended on others
  };
  // Vectors n ... n + count - 1 <- an orthonormal basis of what vectors 0 ... n - 1 leave of them, each of which is
  // taken out twice ("twice is enough", Parlett). A vector of which nothing is left is drawn at random, as `draw` does;
  // the block ends before the first one for which there is no more space. Reads the vectors before the block four
  // times; 96 flops a site and pair. Collective.
  Block orthonormalize(int n, int count);

  // v_n <- a random vector orthogonal to vectors 0 ... n - 1. Every call draws other numbers. Returns false where these
  // vectors span the whole space. Collective.
  bool draw(int n);

  // v_i <- sum_j rows(i, j) v_j for the rows of the matrix, and `following` vectors after those combined come after
  // these. Needs as many spare vectors as there are rows, which the first call makes. Collective.
  void rotate(const ComplexMatrix& rows, int following);
  // The same combinations into blocks of right-hand sides: columns of `blocks` in order. Local.
  void combine(const ComplexMatrix& rows, std::vector<ColorVectorField>& blocks);
  // Copies vectors first ... first + count - 1 into the columns of `block`, of which the others become zero, and back.
  // Local.
  void gather(int first, int count, ColorVectorField& block) const;
  void scatter(const ColorVectorField& block, int first, int count);
  void release_spare() { spare_.clear(); }

  void visit(const Archive& archive);  // what there is to know besides the vectors

 private:
  // c_ij = (v_i, v_{n+j}) for first <= i < last and j < count; v_{n+j} -= sum_i c_ij v_i.
  ComplexMatrix take_out(int first, int last, int n, int count);
  // Column i of `to` <- sum_j rows(first_row + i, j) v_j.
  void combine(const ComplexMatrix& rows, int first_row, int columns, std::span<ColorVectorField* const> to);
  // v_n <- what vectors 0 ... n - 1 leave of it, taken out twice, at length 1. Returns the length that was left.
  double reduce_to_rest(int n);
  double norm(int n) const;
  void scale(int n, double factor);

  StaggeredOperator& d_;
  Parity parity_;
  std::uint64_t seed_;
  std::uint32_t drawn_ = 0;
  VectorAlgebra algebra_;
  std::vector<ColorVectorField> vectors_, spare_;
  std::vector<ColumnScales> scales_;  // of each tile of vectors
};

// A vector of `d`, right-hand side `rhs` of v, of complex Gaussian numbers on the sites of `parity`, not normalised:
// number `number` of those of `seed`. The same on every process grid and device. The first writes those sites of a
// field on the host. Local.
void draw_gaussian(VectorField& v, Parity parity, std::uint64_t seed, std::uint32_t number);
void draw_gaussian(const StaggeredOperator& d, ColorVectorField& v, Parity parity, std::uint64_t seed,
                   std::uint32_t number, int rhs = 0);

}  // namespace staghorn
