// Where the sites of one parity of a cut lattice lie on the device, and in which order they are worked on. Sites that
// need a ghost come first, from a list; then comes the box of all others, by arithmetic.
//
// The index of a site among the sites of its parity is x/2 + X/2 (y + Y (z + Z t)). Its index within a face across mu
// is the same without x_mu; across x it is (y + Y (z + Z t)) / 2. Sender and receiver agree, since extents are even.
// Hops of three steps need faces of three slices, which follow each other, the outermost first.
#pragma once

#include <bit>

#include "dirac/fields/step.hpp"
#include "dirac/kernels/kernel_calls.hpp"
#include "dirac/stencil/legs.hpp"

namespace staghorn::cuda {

// Division of n < 2^31 by a number d that the host knows, as a product: with s = ceil(log2 d) and
// m = floor(2^(31+s) / d) + 1, floor(n / d) = floor(2 n m / 2^(32+s)) [Granlund & Montgomery 1994]. A division takes a
// GPU some 25 instructions, one after the other, and each site needs three.
class Divisor {
 public:
  Divisor() = default;
  explicit Divisor(int divisor)
      : divisor_(divisor),
        shift_(int(std::bit_width(unsigned(divisor) - 1))),
        multiplier_(unsigned((std::uint64_t(1) << (31 + shift_)) / unsigned(divisor) + 1)) {}

  // Returns the last digit of n in base `divisor`, and removes it from n.
  __device__ __forceinline__ int take_digit(int& n) const {
    const int quotient = int(__umulhi(2 * unsigned(n), multiplier_) >> shift_), digit = n - quotient * divisor_;
    n = quotient;
    return digit;
  }

 private:
  int divisor_, shift_;
  unsigned multiplier_;
};

struct LocalSites {
  int extents[4];
  int strides[4];     // from a site to its neighbour, in each direction but x
  int parity;         // of the sites worked on
  int V;              // of fields (SiteLayout): the sites of a parity, and padding
  int face_sites[4];  // of a slice, per parity, across each direction
  bool cut[4];        // faces across this direction travel
  int box_origin[4];
  Divisor digits[3], box_digits[3];  // of a site's index: half of x, y and z; what is left is t
  int box_sites;                     // of this parity in the box of sites that need no ghost
  int slab;                          // extent in z of the slabs in which the box may be walked (place_of)
  Divisor slab_digits[2];            // then of what half of x and y leave: z in the slab, t; what is left counts slabs
  const int* boundary;
  int boundary_sites;
  int depth;  // slices of a face
};

inline int chunks_of(int sites, int threads) { return (sites + threads - 1) / threads; }

// A piece of the work, in chunks of `threads` sites: the chunks of the boundary, then those of the box.
struct ChunkRange {
  int count;
  int listed;           // how many chunks are the boundary's: the first ones
  int box_first, step;  // chunk k of the others is chunk box_first + step k of the box

  __device__ __forceinline__ bool lists(int k) const { return k < listed; }
};

// With `reversed` the box is walked from its end, where the previous kernel may have left vectors in cache.
inline ChunkRange chunk_range(const LocalSites& s, int threads, HopPart part, bool reversed) {
  const int listed = part == HopPart::interior ? 0 : chunks_of(s.boundary_sites, threads);
  const int box = part == HopPart::boundary ? 0 : chunks_of(s.box_sites, threads);
  if (reversed) return {listed + box, listed, box - 1 + listed, -1};
  return {listed + box, listed, -listed, 1};
}

// The index of the site x among the sites of its parity.
__device__ __forceinline__ int site_at(const LocalSites& s, const int (&x)[4]) {
  return (x[0] >> 1) + s.strides[1] * x[1] + s.strides[2] * x[2] + s.strides[3] * x[3];
}

struct Place {
  int site;  // index among the sites of its parity
  int x[4];

  // x[mu], also where the compiler does not know mu.
  __device__ __forceinline__ int coordinate(int mu) const {
    return mu == 0 ? x[0] : mu == 1 ? x[1] : mu == 2 ? x[2] : x[3];
  }
  // Whether a hop by links of the set leaves the local lattice.
  template <LinkSet set = LinkSet::near>
  __device__ __forceinline__ bool at_edge(const LocalSites& s, int mu, bool forward) const {
    return wraps<steps_of(set)>(coordinate(mu), s.extents[mu], forward);
  }
  // The index within a slice across mu.
  __device__ __forceinline__ int in_face(const LocalSites& s, int mu) const {
    int index = 0;
#pragma unroll
    for (int nu = 3; nu > 0; --nu)
      if (nu != mu) index = index * s.extents[nu] + x[nu];
    return mu == 0 ? index >> 1 : index * s.strides[1] + (x[0] >> 1);
  }
};

// A place that knows at which edges it lies, for loops over directions that are not unrolled.
template <Stencil stencil>
struct PlaceWithEdges : Place {
  unsigned edges = 0;  // a bit for each leg: 8 set + 2 mu forward, 8 set + 2 mu + 1 backward

  __device__ __forceinline__ PlaceWithEdges(const LocalSites& s, const Place& place) : Place(place) {
    find_edges<LinkSet::near>(s);
    if constexpr (stencil == Stencil::improved) find_edges<LinkSet::naik>(s);
  }
  template <LinkSet set = LinkSet::near>
  __device__ __forceinline__ bool at_edge(const LocalSites&, int mu, bool forward) const {
    return edges >> (8 * int(set) + 2 * mu + (forward ? 0 : 1)) & 1;
  }

 private:
  template <LinkSet set>
  __device__ __forceinline__ void find_edges(const LocalSites& s) {
#pragma unroll
    for (int hop = 0; hop < 8; ++hop)
      edges |= unsigned(Place::at_edge<set>(s, hop / 2, hop % 2 == 0)) << (8 * int(set) + hop);
  }
};

// The number of sites: of the boundary's list, or of the box.
template <bool listed>
__device__ __forceinline__ int site_count(const LocalSites& s) {
  return listed ? s.boundary_sites : s.box_sites;
}

// The number of a thread's site in chunk k of the range, where a chunk has `threads` sites. Beyond site_count the
// thread has no site.
template <int threads, bool listed>
__device__ __forceinline__ int site_number(const ChunkRange& range, int k, int thread) {
  return (listed ? k : range.box_first + range.step * k) * threads + thread;
}

// With in_slabs the box is walked slab after slab of z, each slab through all t. Neighbours in t are then still in the
// second-level cache, which would not hold the vectors of a whole slice.
template <bool listed, bool in_slabs = false>
__device__ __forceinline__ Place place_of(const LocalSites& s, int number) {
  int rest = number;
  if constexpr (listed) rest = s.boundary[number];
  const Divisor(&digits)[3] = listed ? s.digits : s.box_digits;
  const int half_x = digits[0].take_digit(rest);
  int origin[4] = {0, 0, 0, 0};
  if constexpr (!listed)
#pragma unroll
    for (int mu = 0; mu < 4; ++mu) origin[mu] = s.box_origin[mu];
  Place place;
  place.x[1] = digits[1].take_digit(rest) + origin[1];
  if constexpr (in_slabs && !listed) {
    place.x[2] = s.slab_digits[0].take_digit(rest) + origin[2];
    place.x[3] = s.slab_digits[1].take_digit(rest) + origin[3];
    place.x[2] += s.slab * rest;
  } else {
    place.x[2] = digits[2].take_digit(rest) + origin[2];
    place.x[3] = rest + origin[3];
  }
  place.x[0] = origin[0] + 2 * half_x + ((place.x[1] + place.x[2] + place.x[3] + origin[0] + s.parity) & 1);
  place.site = site_at(s, place.x);
  return place;
}

// Finds the site of a thread in chunk k of the range. Returns false if the thread has no site.
template <int threads, bool listed>
__device__ __forceinline__ bool find_place(const LocalSites& s, const ChunkRange& range, int k, int thread,
                                           Place& place) {
  const int number = site_number<threads, listed>(range, k, thread);
  if (number >= site_count<listed>(s)) return false;
  place = place_of<listed>(s, number);
  return true;
}

// The item-th site of a slice of a face.
__device__ __forceinline__ Place place_in_face(const LocalSites& s, int face, int slice, int item) {
  const int mu = face / 2;
  Place place;
  int rest = mu == 0 ? 2 * item : item;
#pragma unroll
  for (int nu = 0; nu < 4; ++nu) {
    if (nu == mu)
      place.x[nu] = face % 2 == 0 ? slice : s.extents[nu] - 1 - slice;
    else
      place.x[nu] = nu == 3 ? rest : s.digits[nu].take_digit(rest);
  }
  if (mu == 0)
    place.x[1] += (place.x[0] + place.x[2] + place.x[3] + s.parity) & 1;
  else
    place.x[0] = 2 * place.x[0] + ((place.x[1] + place.x[2] + place.x[3] + s.parity) & 1);
  place.site = site_at(s, place.x);
  return place;
}

}  // namespace staghorn::cuda
