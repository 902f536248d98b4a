// Sign and factor of a host's operator against the library's M = 2m + D. All changes are exact: signs and powers of
// two.
//
//   M = 2m - D      S (2m + D) S with S = (-1)^(x+y+z+t):  b -> S b, x -> S x
//   M = m + D/2     half of the library's M, so x is twice its solution of the same source; A is a quarter, x four
//   times
#pragma once

#include <staghorn.h>

#include "dirac/fields/site_field.hpp"

namespace staghorn {

// The host's source times this is the library's, for the same x.
inline double source_scale(const staghorn_request& request) {
  if (!request.halved) return 1;
  return request.system == STAGHORN_FULL ? 2 : 4;
}

// v -> scale v, on odd sites with the sign of S if `flip`. Local.
inline void scale_and_flip(VectorField& v, double scale, bool flip) {
  if (scale == 1 && !flip) return;
#pragma omp parallel for schedule(static)
  for (std::int64_t site = 0; site < v.size(); ++site) {
    const bool odd = flip && Lattice::parity_of(v.lattice().site_coordinates(site)) == Parity::odd;
    const double factor = odd ? -scale : scale;
    for (Complex<double>& c : v[site].c) c = {factor * c.re, factor * c.im};
  }
}

// Only the full system sees the sign of D. Local.
inline bool flips(const staghorn_request& request) { return request.sign < 0 && request.system == STAGHORN_FULL; }
inline void source_to_library(const staghorn_request& request, VectorField& b) {
  scale_and_flip(b, source_scale(request), flips(request));
}
inline void solution_to_library(const staghorn_request& request, VectorField& x) {
  scale_and_flip(x, 1, flips(request));
}
inline void solution_to_host(const staghorn_request& request, VectorField& x) { scale_and_flip(x, 1, flips(request)); }

}  // namespace staghorn
