// One complex number of a plain field: on a GPU it is read and written as one word of 16 bytes.
#pragma once

#include "dirac/algebra/su3.hpp"

namespace staghorn {

STAGHORN_INLINE Complex<double> plain_number(const Complex<double>& at) {
#ifdef __CUDA_ARCH__
  const double2 word = *reinterpret_cast<const double2*>(&at);
  return {word.x, word.y};
#else
  return at;
#endif
}

STAGHORN_INLINE void set_plain_number(Complex<double>& at, const Complex<double>& to) {
#ifdef __CUDA_ARCH__
  *reinterpret_cast<double2*>(&at) = double2{to.re, to.im};
#else
  at = to;
#endif
}

}  // namespace staghorn
