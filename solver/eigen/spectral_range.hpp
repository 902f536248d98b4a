// The spectrum of K = -D^2 on one parity seen from afar: its upper end, and how many eigenvalues lie below a number. A
// plain Lanczos iteration from a random vector tells both, without keeping its vectors.
//
// The Ritz values theta_i and the squares w_i of the first components of their vectors are nodes and weights of a
// quadrature of the density of states [Lin, Saad & Yang, SIAM Review 58 (2016) 34]: about dim sum_i w_i [theta_i <= x]
// eigenvalues lie below x, to a relative accuracy of the square root of their number.
#pragma once

#include <cstdint>
#include <vector>

#include "dirac/operators/staggered_operator.hpp"
#include "solver/search/search_keeper.hpp"

namespace staghorn {

struct SpectralRange {
  double largest = 0;   // the largest eigenvalue seen
  double residual = 0;  // |K v - largest v| of its Ritz vector: an eigenvalue is that close
  long calls = 0;       // applications of K
  std::int64_t dimension = 0;
  std::vector<double> nodes, below;  // ascending; estimate of the number of eigenvalues up to half way to the next node

  // A number below which about `count` eigenvalues lie or a few more; `upper_end` where there are not so many. Local.
  double bound_of(double count) const;
  // No eigenvalue is expected above.
  double upper_end() const { return largest + residual; }
  void visit(const Archive& archive);
};

// At least 64 steps, then until the largest eigenvalue is known to about 1e-10 of itself, at most 320 steps, or
// `max_calls`. Makes three vectors. Each step is one application of K and one more pass over a vector. Collective.
SpectralRange find_spectral_range(StaggeredOperator& d, Parity parity, std::uint64_t seed, long max_calls);

}  // namespace staghorn
