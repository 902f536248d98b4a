// The orthonormal vectors of a Lanczos iteration on the sites of one parity: made orthogonal twice to all others by
// exact dot products, rotated at restarts, drawn at random where an iteration begins.
#pragma once

#include <cstdint>
#include <vector>

#include "dirac/algebra/symmetric_eigen.hpp"
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

  // What is left of vector n: `along` is Re (v_{n-1}, v_n) before, `norm` its length after all others are taken out.
  struct Remainder {
    double along = 0, before = 0, norm = 0;
  };
  // v_n <- v_n less what vectors 0 ... n - 1 have of it, twice ("twice is enough", Parlett), and of length 1, unless
  // nothing is left. Reads these vectors four times; 96 flops a site and vector. Collective.
  Remainder orthonormalize(int n);

  // v_n <- a random vector orthogonal to vectors 0 ... n - 1. Every call draws other numbers. Returns false where these
  // vectors span the whole space. Collective.
  bool draw(int n);

  // v_i <- sum_j rows(i, j) v_j for the rows of the matrix, and v_rows <- v_columns, the vector after those combined.
  // Needs as many spare vectors as there are rows, which the first call makes. Collective.
  void rotate(const RealMatrix& rows);
  // The same combinations into blocks of right-hand sides: columns of `blocks` in order. Local.
  void combine(const RealMatrix& rows, std::vector<ColorVectorField>& blocks);
  void release_spare() { spare_.clear(); }

  // What there is to know besides the vectors, as lists whose names begin with `basis.`, and back. Local.
  void put_into(SearchNumbers& numbers) const;
  void take_from(const SearchNumbers& numbers);

 private:
  // c_i = (v_i, v_n) for i < n; v_n -= sum_i c_i v_i.
  double take_out(int n);

  StaggeredOperator& d_;
  Parity parity_;
  std::uint64_t seed_;
  std::uint32_t drawn_ = 0;
  VectorAlgebra algebra_;
  std::vector<ColorVectorField> vectors_, spare_;
  std::vector<ColumnScales> scales_;  // of each tile of vectors
};

// A vector of `d` of complex Gaussian numbers on the sites of `parity`, not normalised: number `number` of those of
// `seed`. The same on every process grid and device. Local.
void draw_gaussian(const StaggeredOperator& d, ColorVectorField& v, Parity parity, std::uint64_t seed,
                   std::uint32_t number);

}  // namespace staghorn
