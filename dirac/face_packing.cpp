#include "dirac/face_packing.hpp"

#include <algorithm>
#include <cstring>

namespace staghorn {

namespace {

// `lanes` consecutive lanes of every component of a block of V; the common widths get code of their own.
template <class Real>
void copy_lanes(Real* to, const Real* from, int lanes, int V, int n_components) {
  for (int c = 0; c < n_components; ++c, to += V, from += V) {
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

template <class Real>
void pack(const FaceSites& faces, int V, int n_components, const Real* field, Real* send) {
  const std::int64_t block_reals = std::int64_t{n_components} * V;
  for (int face = 0; face < 8; ++face) {
    const std::vector<Slot>& slots = faces.slots[face];
    const std::int64_t n = std::int64_t(slots.size());
    if (n == 0) continue;
#pragma omp parallel for schedule(static) if (n * n_components > 65536)
    for (std::int64_t first = 0; first < n; first += V) {
      Real* to = send + (faces.first_block[face] + first / V) * block_reals;
      const Slot* slot = slots.data() + first;
      const int count = int(std::min<std::int64_t>(V, n - first));
      if (count == V && slot[0] % V == 0 && slot[V - 1] == slot[0] + V - 1) {  // a whole block, in order
        std::memcpy(to, field + slot[0] / V * block_reals, std::size_t(block_reals) * sizeof(Real));
        continue;
      }
      const int half = V / 2;
      for (int l = 0; l < count;) {
        const Real* from = field + slot[l] / V * block_reals + slot[l] % V;
        if (l % half == 0 && l + half <= count && slot[l] % half == 0 && slot[l + half - 1] == slot[l] + half - 1) {
          copy_lanes(to + l, from, half, V, n_components);  // half a block, in order
          l += half;
        } else {
          copy_lanes(to + l, from, 1, V, n_components);
          ++l;
        }
      }
    }
  }
}

}  // namespace

void pack_faces(const FaceSites& faces, int lanes, Precision precision, int n_rhs, const void* field, std::byte* send) {
  if (precision == Precision::fp64)
    pack(faces, lanes, 6 * n_rhs, static_cast<const double*>(field), reinterpret_cast<double*>(send));
  else
    pack(faces, lanes, 6 * n_rhs, static_cast<const float*>(field), reinterpret_cast<float*>(send));
}

}  // namespace staghorn
