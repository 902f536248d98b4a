// A vector on a grid of blocks: n complex numbers on each block of this rank, for each right-hand side; and its dot
// products. Within a block they have one order, over blocks they are exact: the same bits on any ranks, threads and
// devices.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "dirac/algebra/su3.hpp"
#include "halo/buffer.hpp"
#include "halo/communicator.hpp"
#include "solver/krylov/coarse/vectors/dense_products.hpp"

namespace staghorn {

class CoarseVector {
 public:
  // Zero.
  CoarseVector(std::int64_t blocks, int n, int n_rhs, MemorySpace space = MemorySpace::host)
      : blocks(blocks),
        n(n),
        n_rhs(n_rhs),
        width(padded(n)),
        memory_(std::size_t(blocks * n_rhs * 2 * width) * sizeof(double), space) {}
  // A copy, in any space.
  CoarseVector(const CoarseVector& other, MemorySpace space) : CoarseVector(other.blocks, other.n, other.n_rhs, space) {
    copy_from(other);
  }
  CoarseVector(const CoarseVector& other) : CoarseVector(other, other.space()) {}
  CoarseVector(CoarseVector&&) = default;
  CoarseVector& operator=(const CoarseVector& other) { return *this = CoarseVector(other); }
  CoarseVector& operator=(CoarseVector&&) = default;

  void copy_from(const CoarseVector& other) { memory_.copy_from(other.memory_); }  // of the same shape
  void set_zero() { memory_.set_zero(); }
  // The numbers of a block, as in dense_products.hpp; padding is zero. On a GPU for its kernels.
  double* at(std::int64_t block, int rhs) {
    return reinterpret_cast<double*>(memory_.data()) + (block * n_rhs + rhs) * 2 * width;
  }
  const double* at(std::int64_t block, int rhs) const { return const_cast<CoarseVector*>(this)->at(block, rhs); }
  // All of them: [block][right-hand side][re, im][width]
  std::span<double> numbers() { return {at(0, 0), memory_.bytes() / sizeof(double)}; }
  std::span<const double> numbers() const { return const_cast<CoarseVector*>(this)->numbers(); }
  MemorySpace space() const { return memory_.space(); }
  std::int64_t bytes() const { return std::int64_t(memory_.bytes()); }

  std::int64_t blocks;
  int n, n_rhs;
  std::int64_t width;

 private:
  Buffer memory_;
};

// The ranks that sum, and on a GPU the room in which its kernels do, kept from call to call.
class CoarseSums {
 public:
  CoarseSums(const Communicator& communicator) : communicator(communicator) {}  // NOLINT: that is all on a host
  const Communicator& communicator;
  // At least so many bytes on the GPU, of the newest call alone.
  std::byte* room(std::size_t bytes) const {
    if (room_.bytes() < bytes) room_ = Buffer(bytes, MemorySpace::cuda);
    return room_.data();
  }

 private:
  mutable Buffer room_;
};

// (a_k, b) for each vector a_k and right-hand side of b: [k][right-hand side]. An a_k of one right-hand side serves all
// of b. `about`: the sizes of the results, for the grids of the sums, alike on all ranks; one message, or three where
// one is far too small. Empty: two messages. Collective.
std::vector<Complex<double>> coarse_dots(const CoarseSums& sums, std::span<const CoarseVector* const> a,
                                         const CoarseVector& b, std::span<const double> about = {});
// v = own v + factor w for each right-hand side; a w of one serves all of v. Local.
void add_scaled(std::span<const Complex<double>> factor, const CoarseVector& w, CoarseVector& v, double own = 1);

}  // namespace staghorn
