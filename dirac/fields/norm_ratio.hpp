// The ratio of two vectors at a site, for residuals that are relative at each site. One text for CPU and GPU.
#pragma once

#include <cmath>

#include "dirac/algebra/su3_matrix.hpp"

namespace staghorn {

// A vector of the norm |r| / |x|, or of norm 1 where x is zero.
template <class Real>
STAGHORN_INLINE ColorVector<Real> norm_ratio(const ColorVector<Real>& r, const ColorVector<Real>& x) {
  const Real x2 = norm2(x);
  return {{{x2 == 0 ? Real(1) : std::sqrt(norm2(r) / x2), 0}, {0, 0}, {0, 0}}};
}

}  // namespace staghorn
