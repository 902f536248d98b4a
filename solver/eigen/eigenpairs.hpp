// Low eigenpairs of K = -D^2 on the sites of one parity: what Lanczos finds, files hold and deflation uses.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "dirac/fields/color_vector_field.hpp"
#include "halo/pinned_pieces.hpp"

namespace staghorn {

// K v_i = values[i] v_i, values ascending, |v_i| = 1. The matrix of a mass, A = 4m^2 + K, has the same vectors and the
// values 4m^2 + values[i]. D is without a factor 1/2; values are in lattice units.
struct Eigenpairs {
  static constexpr int vectors_per_block = 16;

  Parity parity = Parity::even;
  std::vector<double> values;
  // blocks[i] holds the vectors 16 i to 16 i + 15 as its right-hand sides, the last block fewer. All have one layout,
  // precision and memory space.
  std::vector<ColorVectorField> blocks;
  MemorySpace space = MemorySpace::host;  // of the blocks; pinned: on the host, from where a GPU reads them each time
  // |K v - lambda v| of each pair, in fp64 by the plain path. Empty until certify_eigenpairs
  // (eigenpair_certificate.hpp) has run.
  std::vector<double> residuals;
  // What the blocks refer to, where the pairs themselves keep it. Empty where an operator does that outlives them.
  std::shared_ptr<const SiteLayout> layout;
  std::shared_ptr<PinnedPieces> pieces;

  std::size_t count() const { return values.size(); }
  // Of all blocks, this rank.
  std::int64_t bytes() const {
    std::int64_t sum = 0;
    for (const ColorVectorField& block : blocks) sum += block.bytes();
    return sum;
  }
};

}  // namespace staghorn
