// Conjugate Gradient [Hestenes & Stiefel 1952] for A x = b, A = 4 m^2 - D^2 on the sites of one parity.
#pragma once

#include <functional>
#include <vector>

#include "dirac/color_vector_field.hpp"
#include "dirac/staggered_operator.hpp"

namespace staghorn {

enum class CgOutcome { converged, out_of_iterations, stagnated, breakdown };

struct CgStop {
  std::vector<double> target_norm;  // per right-hand side: stop when |r| <= target_norm (absolute)
  long max_iterations = 10000;
  // Iterations without a new smallest residual after which a right-hand side counts as stagnated; 0 = never.
  long stagnation_window = 1000;
};

struct CgProgress {
  long iteration;
  double worst_ratio;  // the largest |r| / target_norm of the active right-hand sides
};

struct CgColumn {  // one right-hand side
  CgOutcome outcome = CgOutcome::out_of_iterations;
  long iterations = 0;
  double residual_norm = 0;     // |r| as iterated, absolute
  std::vector<double> history;  // |r|^2 before the first and after each iteration
};

// Improves `x` (its content is the initial guess) until every right-hand side meets its target. Converged right-hand
// sides freeze; each column has the bits it would have alone. Collective; never throws for non-convergence.
// `progress`, if set, is called on every rank after each iteration.
std::vector<CgColumn> conjugate_gradient(StaggeredOperator& d, double mass, Parity parity, ColorVectorField& x,
                                         const ColorVectorField& b, const CgStop& stop,
                                         const std::function<void(const CgProgress&)>& progress = {});

}  // namespace staghorn
