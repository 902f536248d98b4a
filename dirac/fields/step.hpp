// One step along a direction of a periodic lattice: where it wraps, and what it does to a site's index. Host and
// device.
#pragma once

#include "dirac/algebra/su3.hpp"

namespace staghorn {

// Whether a step from coordinate x leaves 0..extent - 1.
STAGHORN_INLINE bool wraps(int x, int extent, bool forward) { return x == (forward ? extent - 1 : 0); }

// The index after a step along a direction whose coordinate counts `stride` in the index; with `wrap` it goes round.
STAGHORN_INLINE int stepped(int index, int stride, int extent, bool forward, bool wrap) {
  const int around = stride * (extent - 1);
  if (forward) return wrap ? index - around : index + stride;
  return wrap ? index + around : index - stride;
}

}  // namespace staghorn
