// Plain sites by number, in kernels: lexicographic, x fastest.
#pragma once

#include "halo/lattice.hpp"

namespace staghorn::cuda {

struct Rows {
  unsigned x, y, z;  // local extents
};
inline Rows rows_of(const Extents& local) { return {unsigned(local[0]), unsigned(local[1]), unsigned(local[2])}; }

__device__ __forceinline__ unsigned parity_of(unsigned site, const Rows& rows) {
  const unsigned row = site / rows.x, plane = row / rows.y;
  return (site % rows.x + row % rows.y + plane % rows.z + plane / rows.z) & 1;
}

// The site of a slot: the sites of one parity in lexicographic order.
__device__ __forceinline__ unsigned site_of(unsigned slot, unsigned parity, const Rows& rows) {
  return 2 * slot + (parity_of(2 * slot, rows) != parity);
}

}  // namespace staghorn::cuda
