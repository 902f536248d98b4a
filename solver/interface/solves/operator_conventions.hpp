// Sign and factor of a host's operator against the library's M = 2m + D. All changes are exact: signs and powers of
// two.
//
//   M = 2m - D      S (2m + D) S with S = (-1)^(x+y+z+t):  b -> S b, x -> S x
//   M = m + D/2     half of the library's M, so x is twice its solution of the same source; A is a quarter, x four
//   times
#pragma once

#include <staghorn.h>

#include "solver/interface/layouts/host_fields.hpp"
#include "solver/request/solve_request.hpp"

namespace staghorn {

// The host's source times this is the library's, for the same x.
inline double source_scale(const staghorn_request& request, System system) {
  if (!request.halved) return 1;
  return system == System::full ? 2 : 4;
}

// Only the full system sees the sign of D.
inline bool flips(const staghorn_request& request, System system) { return request.sign < 0 && system == System::full; }

// How the host's sources and solutions differ from the library's, where `signs` are those of its fields. Local.
inline VectorSigns signs_of_sources(const staghorn_request& request, System system, VectorSigns signs) {
  signs.factor = 1 / source_scale(request, system);
  signs.alternating = flips(request, system);
  return signs;
}
inline VectorSigns signs_of_solutions(const staghorn_request& request, System system, VectorSigns signs) {
  signs.alternating = flips(request, system);
  return signs;
}

}  // namespace staghorn
