// What the residuals of an answer have to reach. They are carried together: only here it is known that there are two.
#pragma once

#include <array>
#include <cmath>
#include <optional>

#include "halo/watch/error.hpp"

namespace staghorn {

struct Targets {
  std::optional<double> tolerance;  // relative residual |b - A x| / |b|; default 1e-10 (fp64), 1e-5 (fp32)
  std::optional<double>
      tolerance_hq;  // Fermilab's residual too (heavy_quark_residual in dirac/fields/plain_algebra.hpp)

  // Both by the names of their options, where the first is `in_force`.
  struct Named {
    const char* name;
    std::optional<double> value;
  };
  std::array<Named, 2> named(double in_force) const {
    return {{{"tolerance", in_force}, {"tolerance_hq", tolerance_hq}}};
  }

  // Throws Error for a target that no solve reaches, or any x.
  void check(double in_force) const {
    if (!(in_force > 0 && in_force < 1)) throw Error("tolerance", "a relative residual between 0 and 1", in_force);
    if (tolerance_hq && !(*tolerance_hq > 0 && *tolerance_hq < 1))
      throw Error("tolerance_hq", "a residual between 0 and 1", *tolerance_hq);
  }

  // Whether Fermilab's residual counts, too.
  bool are_two() const { return tolerance_hq.has_value(); }
  bool are_met(double in_force, double residual, double residual_hq) const {
    return residual <= in_force && (!tolerance_hq || residual_hq <= *tolerance_hq);
  }
  // The relative residual at which Fermilab's meets its target, as both residuals fall alike.
  double residual_of_second(double residual, double residual_hq) const {
    return residual * tolerance_hq.value() / residual_hq;
  }
};

}  // namespace staghorn
