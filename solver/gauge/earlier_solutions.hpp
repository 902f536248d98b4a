// Earlier solutions of a gauge, from which a later solve is guessed: for hosts that change links slowly, as molecular
// dynamics does. Private to this folder.
#pragma once

#include <deque>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "dirac/fields/site_field.hpp"
#include "dirac/stencil/boundary.hpp"
#include "dirac/stencil/operator_links.hpp"
#include "halo/communicator.hpp"
#include "solver/request/solve_request.hpp"

namespace staghorn {

class EarlierSolutions {
 public:
  // Adds to each zero field of `solutions` the combination of earlier solutions of the same system, mass and place in
  // the batch that leaves the smallest residual |b - M x| with the links that are here now: minimum residual
  // extrapolation [Brower, Ivanenko, Levi & Orginos, hep-lat/9509012]. M v of the earlier solutions is made orthonormal
  // one after the other (modified Gram-Schmidt, products exact, + - * / sqrt alone); a solution that adds less than
  // 1e-10 is left out. Computes in fp64 by the plain path: one M and up to 2 k products for the k-th earlier solution.
  // Returns how many were used, for each field. Fields lie on the host. Collective.
  std::vector<int> guess(const Communicator& communicator, const OperatorLinks& links, const Boundary& boundary,
                         const SolveRequest& request, std::span<const VectorField> sources,
                         std::span<VectorField> solutions) const;

  // Keeps solutions, of each place the last `most`. Local.
  void keep(const SolveRequest& request, std::span<const VectorField> solutions, std::size_t most);

  std::int64_t bytes() const;  // this rank

 private:
  using Key = std::pair<System, double>;                      // and the mass
  std::map<Key, std::vector<std::deque<VectorField>>> kept_;  // by place in the batch, the latest first
};

}  // namespace staghorn
