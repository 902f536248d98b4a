// What Conjugate Gradient says of itself while it runs. Apart from the solver, so that its readers include no kernels.
#pragma once

namespace staghorn {

struct CgProgress {
  long iteration;
  double worst_ratio;           // the largest |r| / target_norm of the active right-hand sides
  double iterations_per_e = 0;  // that a fall of |r| by a factor of e takes, by CG's coefficients; 0: not known yet
};

}  // namespace staghorn
