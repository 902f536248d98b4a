// Which conventions may be those of a solution: all combinations of what is known to differ between codes are tried at
// a few hundred sites. The judge decides.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "dirac/fields/site_field.hpp"
#include "dirac/stencil/operator_links.hpp"
#include "halo/communicator.hpp"
#include "solver/report/convention.hpp"

namespace staghorn {

// Links of D, and the quarks that they belong to.
struct TriedLinks {
  QuarkAction quarks;
  OperatorLinks links;
};

// A convention that may fit, with the links that it belongs to.
struct Candidate {
  Convention convention;  // without mass and factor
  const TriedLinks* tried;
};

struct Shortlist {
  std::vector<Candidate> candidates;  // at most sixteen, in the order in which they were tried: that of `asked` first
  long tried = 0;
};

// M, or A on all sites or on those of one parity.
struct TriedSystem {
  bool squared = false;
  std::optional<Parity> parity;
};

// The combinations of these links, as stored, daggered, transposed and conjugated; of the boundary as asked,
// antiperiodic and periodic in t; of phases cps, milc and tifr and their origins; and of these systems, whose residual
// at the sites of the sample is close to the smallest. Collective, and the same on all ranks.
Shortlist shortlist(const Communicator& communicator, std::span<const TriedLinks> links,
                    std::span<const TriedSystem> systems, const Convention& asked, const VectorField& x,
                    const VectorField& b);

}  // namespace staghorn
