// A vector on a grid of blocks: n complex numbers on each block of this rank, for each right-hand side; and its dot
// products. Within a block they have one order, over blocks they are exact: the same bits on any ranks and threads.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "dirac/algebra/su3.hpp"
#include "halo/communicator.hpp"
#include "solver/krylov/coarse/dense_products.hpp"

namespace staghorn {

struct CoarseVector {
  // Zero.
  CoarseVector(std::int64_t blocks, int n, int n_rhs)
      : blocks(blocks), n(n), n_rhs(n_rhs), width(padded(n)), numbers(std::size_t(blocks * n_rhs * 2 * width)) {}

  void copy_from(const CoarseVector& other) { numbers = other.numbers; }
  // The numbers of a block, as in dense_products.hpp; padding is zero.
  double* at(std::int64_t block, int rhs) { return numbers.data() + (block * n_rhs + rhs) * 2 * width; }
  const double* at(std::int64_t block, int rhs) const { return const_cast<CoarseVector*>(this)->at(block, rhs); }
  std::int64_t bytes() const { return std::int64_t(numbers.size() * sizeof(double)); }

  std::int64_t blocks;
  int n, n_rhs;
  std::int64_t width;
  std::vector<double> numbers;  // [block][right-hand side][re, im][width]
};

// (a_k, b) for each vector a_k and right-hand side of b: [k][right-hand side]. An a_k of one right-hand side serves all
// of b. `about`: the sizes of the results, for the grids of the sums, alike on all ranks; one message, or three where
// one is far too small. Empty: two messages. Collective.
std::vector<Complex<double>> coarse_dots(const Communicator& communicator, std::span<const CoarseVector* const> a,
                                         const CoarseVector& b, std::span<const double> about = {});
// v += factor w for each right-hand side; a w of one serves all of v. Local.
void add_scaled(std::span<const Complex<double>> factor, const CoarseVector& w, CoarseVector& v);

}  // namespace staghorn
