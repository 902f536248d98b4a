// One step of a shifted system of multi-shift CG at one real number, or one block of lanes. CPU and CUDA share this
// text.
#pragma once

#include "dirac/algebra/su3.hpp"

namespace staghorn {

// x += alpha p, then p = zeta r + beta p   [Jegerlehner, hep-lat/9612014]
template <class Real>
struct ShiftedStep {
  Real alpha, beta, zeta;

  template <class Numbers>
  STAGHORN_INLINE void apply(Numbers& x, Numbers& p, const Numbers& r) const {
    x = multiply_add(alpha, p, x);
    p = multiply_add(beta, p, zeta * r);
  }
};

}  // namespace staghorn
