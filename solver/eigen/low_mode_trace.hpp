// The part of Tr M^-1 / V that low modes hold, taken out of the noise of its estimate: of each value
// Re <eta, M^-1 eta> / V  what the vectors see of eta goes, and the mean of that over all eta comes. The mean of the
// estimate stays what it is, whatever the vectors are; where they are eigenvectors, the noise of their modes is gone.
// [Giusti et al., JHEP 0404 (2004) 013, for correlators]
//
// An eigenvector v of K = -D^2 on even sites has a partner w = D v / sqrt(lambda) on odd ones. D is anti-Hermitian, so
//   exact          2m sum_i (|v_i|^2 + |w_i|^2) / (lambda_i + 4m^2) / V,   where |v_i| = |w_i| = 1 but for rounding
//   seen by eta    2m sum_i (|<v_i, eta_e>|^2 + |<w_i, eta_o>|^2) / (lambda_i + 4m^2) / V
// A pair with lambda = 0 has no partner on odd sites. All fields and products are in fp64, D is that of the plain path.
#pragma once

#include <vector>

#include "dirac/stencil/boundary.hpp"
#include "dirac/stencil/operator_links.hpp"
#include "solver/eigen/deflation.hpp"

namespace staghorn {

class LowModeTrace {
 public:
  static constexpr int fields = 2;  // plain ones beside the noise, at a time: two copies of it

  // `links` are uncompressed; they lie on the host or where the vectors lie. They and `pairs` must outlive the object.
  // One plain hop a pair, for the norms. Throws Error where the vectors have 16 bits: those of noise, rounded likewise,
  // would shift the mean. Collective.
  LowModeTrace(const Communicator& communicator, const OperatorLinks& links, const Boundary& boundary,
               Deflation& pairs);

  // |<v_i, eta_e>|^2 + |<w_i, eta_o>|^2 of each pair. `noise` is in CPS phases. One plain hop; all vectors are read
  // twice. Makes a plain field and two vectors of the pairs' precision. Collective.
  std::vector<double> seen(const VectorField& noise) const;
  // The mean of that over noise, |v_i|^2 + |w_i|^2. Local.
  const std::vector<double>& norms2() const { return norms2_; }
  // The part of Tr M^-1 / V, M = 2m + D, that such numbers are worth at the mass m. Local.
  double part(double mass, const std::vector<double>& of_pairs) const;
  // How far part(mass, norms2()) may be from that of the eigenvalues themselves, which lie within the residuals r of
  // the pairs: sum of part |1 / (lambda + 4m^2) - 1 / (lambda - r + 4m^2)|, where no eigenvalue is negative. Local.
  double error(double mass) const;
  // What is added to the value of a noise vector. Local.
  double correction(double mass, const std::vector<double>& seen_of_noise) const {
    return part(mass, norms2_) - part(mass, seen_of_noise);
  }

 private:
  const Communicator& communicator_;
  OperatorLinks links_;
  Boundary boundary_;
  Deflation& pairs_;
  std::vector<double> norms2_;
};

}  // namespace staghorn
