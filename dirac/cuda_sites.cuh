// Where the sites of one parity of a cut lattice lie on the device, and in which order they are worked on: sites that
// need a ghost first, as a list, then the box of the others. All by arithmetic but for the list.
//
// The index of a site among those of its parity is x/2 + X/2 (y + Y (z + Z t)); within a face across mu it is the same
// without x_mu; across x it is (y + Y (z + Z t)) / 2. Sender and receiver agree, since extents are even.
#pragma once

#include "dirac/kernels.hpp"

namespace staghorn::cuda {

struct LocalSites {
  int extents[4];
  int strides[4];     // from a site to its neighbour, in each direction but x
  int parity;         // of the sites worked on
  int sites;          // per parity
  int face_sites[4];  // per parity, across each direction
  bool cut[4];        // faces across this direction travel
  int box_origin[4], box_extents[4];
  int box_sites;  // of this parity in the box of sites that need no ghost
  const int* boundary;
  int boundary_sites;
};

// A piece of the work in chunks of `threads` sites: those of the boundary, then those of the box. `reversed` walks the
// box from its end, where the kernel before may have left vectors in cache.
struct ChunkRange {
  int first, count;
  bool reversed;
};

inline ChunkRange chunk_range(const LocalSites& s, int threads, HopPart part, bool reversed) {
  const int boundary = (s.boundary_sites + threads - 1) / threads, box = (s.box_sites + threads - 1) / threads;
  if (part == HopPart::interior) return {boundary, box, reversed};
  if (part == HopPart::boundary) return {0, boundary, false};
  return {0, boundary + box, reversed};
}

struct Place {
  int site;  // among those of its parity
  int x[4];

  // x[mu], also where the compiler does not know mu.
  __device__ __forceinline__ int coordinate(int mu) const {
    return mu == 0 ? x[0] : mu == 1 ? x[1] : mu == 2 ? x[2] : x[3];
  }
  __device__ __forceinline__ bool at_edge(const LocalSites& s, int mu, bool forward) const {
    return coordinate(mu) == (forward ? s.extents[mu] - 1 : 0);
  }
  __device__ __forceinline__ int in_face(const LocalSites& s, int mu) const {
    int index = 0;
#pragma unroll
    for (int nu = 3; nu > 0; --nu)
      if (nu != mu) index = index * s.extents[nu] + x[nu];
    return mu == 0 ? index / 2 : index * (s.extents[0] / 2) + x[0] / 2;
  }
};

// Whether the k-th chunk of the range is one of the boundary's. The same for all threads of a block.
template <int threads>
__device__ __forceinline__ bool is_listed(const LocalSites& s, const ChunkRange& range, int k) {
  return range.first + k < (s.boundary_sites + threads - 1) / threads;
}

// The site of a thread in the k-th chunk of the range, which takes `threads`; false: none.
template <int threads, bool listed>
__device__ __forceinline__ bool find_place(const LocalSites& s, const ChunkRange& range, int k, int thread,
                                           Place& place) {
  int rest = (range.first + k) * threads + thread;
  int extent[4] = {s.extents[0], s.extents[1], s.extents[2], s.extents[3]}, origin[4] = {0, 0, 0, 0};
  if constexpr (listed) {
    if (rest >= s.boundary_sites) return false;
    rest = s.boundary[rest];
  } else {
    const int boundary_chunks = (s.boundary_sites + threads - 1) / threads;
    int chunk = range.first + k - boundary_chunks;
    if (range.reversed) chunk = (s.box_sites + threads - 1) / threads - 1 - chunk;
    rest = chunk * threads + thread;
    if (rest >= s.box_sites) return false;
#pragma unroll
    for (int mu = 0; mu < 4; ++mu) {
      extent[mu] = s.box_extents[mu];
      origin[mu] = s.box_origin[mu];
    }
  }
  const int half_x = rest % (extent[0] / 2);
  rest /= extent[0] / 2;
  place.x[1] = rest % extent[1] + origin[1];
  rest /= extent[1];
  place.x[2] = rest % extent[2] + origin[2];
  place.x[3] = rest / extent[2] + origin[3];
  place.x[0] = origin[0] + 2 * half_x + ((place.x[1] + place.x[2] + place.x[3] + origin[0] + s.parity) & 1);
  place.site =
      ((place.x[3] * s.extents[2] + place.x[2]) * s.extents[1] + place.x[1]) * (s.extents[0] / 2) + place.x[0] / 2;
  return true;
}

// The item-th site of a face.
__device__ __forceinline__ Place place_in_face(const LocalSites& s, int face, int item) {
  const int mu = face / 2;
  Place place;
  int rest = mu == 0 ? 2 * item : item;
#pragma unroll
  for (int nu = 0; nu < 4; ++nu) {
    const int extent = nu == 0 ? s.extents[0] / 2 : s.extents[nu];
    if (nu == mu) {
      place.x[nu] = face % 2 == 0 ? 0 : s.extents[nu] - 1;
    } else {
      place.x[nu] = nu == 3 ? rest : rest % extent;
      rest /= extent;
    }
  }
  if (mu == 0)
    place.x[1] += (place.x[0] + place.x[2] + place.x[3] + s.parity) & 1;
  else
    place.x[0] = 2 * place.x[0] + ((place.x[1] + place.x[2] + place.x[3] + s.parity) & 1);
  place.site =
      ((place.x[3] * s.extents[2] + place.x[2]) * s.extents[1] + place.x[1]) * (s.extents[0] / 2) + place.x[0] / 2;
  return place;
}

}  // namespace staghorn::cuda
