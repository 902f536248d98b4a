// A hop of one or more sites along a direction of a periodic lattice: where it wraps, and what it does to a site's
// index. Host and device.
#pragma once

#include "dirac/algebra/su3.hpp"

namespace staghorn {

// Whether a hop from coordinate x leaves 0..extent - 1. (Naive quarks, `steps` = 1, compare for equality.)
template <int steps = 1>
STAGHORN_INLINE bool wraps(int x, int extent, bool forward) {
  if constexpr (steps == 1) return x == (forward ? extent - 1 : 0);
  return forward ? x >= extent - steps : x < steps;
}

// The slice in which a hop that leaves 0..extent - 1 ends: 0 is the first one beyond the rim.
STAGHORN_INLINE int slice_beyond(int x, int extent, bool forward, int steps) {
  return forward ? x + steps - extent : steps - 1 - x;
}

// The index after a hop along a direction whose coordinate counts `stride` in the index; with `wrap` it goes round.
template <int steps = 1>
STAGHORN_INLINE int stepped(int index, int stride, int extent, bool forward, bool wrap) {
  const int around = stride * (extent - steps);
  if (forward) return wrap ? index - around : index + steps * stride;
  return wrap ? index + around : index - steps * stride;
}

// The same along x, where the index counts x / 2: a hop of an odd number of steps moves it by (steps - 1) / 2 or
// (steps + 1) / 2.
template <int steps>
STAGHORN_INLINE int stepped_along_x(int index, int x, int extent, bool forward, bool wrap) {
  const int moved = (steps + ((x & 1) == int(forward) ? 1 : -1)) / 2, around = wrap ? extent / 2 : 0;
  return forward ? index + moved - around : index - moved + around;
}

}  // namespace staghorn
