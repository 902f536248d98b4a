// The run-time type of a field of colour vectors, as kernels see it: what its bytes mean.
#pragma once

#include <cstdint>
#include <string>

#include "dirac/algebra/precision.hpp"
#include "dirac/fields/site_layout.hpp"

namespace staghorn {

// Most right-hand sides in one batch: kernels keep the scalars and sums of a batch in arrays of this length.
constexpr int max_rhs = 64;
// "1 to 64", for messages.
inline std::string rhs_range() { return "1 to " + std::to_string(max_rhs); }

struct VectorShape {
  Precision precision = Precision::fp64;
  int n_rhs = 1;
  std::int64_t blocks = 0;      // of one parity
  int lanes = 0;                // of a block
  int lanes_in_last_block = 0;  // lanes of the last block that hold a site
};

// The shape of n_rhs vectors on one parity of the layout's lattice. Local.
inline VectorShape vector_shape(const SiteLayout& layout, Precision precision, int n_rhs) {
  const std::int64_t sites = layout.lattice().local_volume() / 2, before_last = layout.blocks() - 1;
  return {precision, n_rhs, layout.blocks(), layout.lanes(), int(sites - before_last * layout.lanes())};
}

}  // namespace staghorn
