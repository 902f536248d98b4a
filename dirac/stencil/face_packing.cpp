#include "dirac/stencil/face_packing.hpp"

#include <algorithm>
#include <cstring>

#include "dirac/algebra/dispatch.hpp"
#include "dirac/algebra/fixed_point.hpp"

namespace staghorn {

namespace {

// Copies `lanes` consecutive lanes of n components of a block of V. The common widths get code of their own.
template <class Real>
void copy_lanes(Real* to, const Real* from, int lanes, int V, int n) {
  for (int c = 0; c < n; ++c, to += V, from += V) {
    switch (lanes) {
      case 8:
        std::memcpy(to, from, 8 * sizeof(Real));
        break;
      case 4:
        std::memcpy(to, from, 4 * sizeof(Real));
        break;
      default:
        std::memcpy(to, from, std::size_t(lanes) * sizeof(Real));
    }
  }
}

// Copies `lanes` lanes of n_rhs vectors, from lane `source` on, to the lanes from `target` on.
template <class Stored>
void copy_vectors(Stored* to, int target, const Stored* from, int source, int lanes, int V, int n_rhs) {
  if constexpr (is_fixed_point<Stored>) {
    for (int r = 0; r < n_rhs; ++r, to += 8 * V, from += 8 * V) {
      copy_lanes(to + target, from + source, lanes, V, 6);
      copy_lanes(reinterpret_cast<float*>(to + 6 * V) + target, reinterpret_cast<const float*>(from + 6 * V) + source,
                 lanes, V, 1);
    }
  } else {
    copy_lanes(to + target, from + source, lanes, V, 6 * n_rhs);
  }
}

template <class Stored>
void pack(const FaceSites& faces, int V, int n_rhs, const Stored* field, Stored* send) {
  const std::int64_t block_reals = std::int64_t{vector_places<Stored>} * n_rhs * V;
  for (int face = 0; face < 8; ++face) {
    const std::vector<Slot>& slots = faces.slots[face];
    const std::int64_t n = std::int64_t(slots.size());
    if (n == 0) continue;
#pragma omp parallel for schedule(static) if (n * n_rhs > 10922)
    for (std::int64_t first = 0; first < n; first += V) {
      Stored* to = send + (faces.first_block[face] + first / V) * block_reals;
      const Slot* slot = slots.data() + first;
      const int count = int(std::min<std::int64_t>(V, n - first));
      if (count == V && slot[0] % V == 0 && slot[V - 1] == slot[0] + V - 1) {  // a whole block, in order
        std::memcpy(to, field + slot[0] / V * block_reals, std::size_t(block_reals) * sizeof(Stored));
        continue;
      }
      const int half = V / 2;
      for (int l = 0; l < count;) {
        const Stored* from = field + slot[l] / V * block_reals;
        const bool half_in_order =
            l % half == 0 && l + half <= count && slot[l] % half == 0 && slot[l + half - 1] == slot[l] + half - 1;
        const int lanes = half_in_order ? half : 1;
        copy_vectors(to, l, from, slot[l] % V, lanes, V, n_rhs);
        l += lanes;
      }
    }
  }
}

}  // namespace

void pack_faces(const FaceSites& faces, int lanes, Precision precision, int n_rhs, const void* field, std::byte* send) {
  with_stored(precision, field, [&]<class Stored>(const Stored* from) {
    pack(faces, lanes, n_rhs, from, reinterpret_cast<Stored*>(send));
  });
}

}  // namespace staghorn
