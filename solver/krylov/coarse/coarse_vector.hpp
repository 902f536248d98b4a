// A vector on a grid of blocks: n complex numbers on each block of this rank, for each right-hand side.
#pragma once

#include <cstdint>
#include <vector>

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

}  // namespace staghorn
