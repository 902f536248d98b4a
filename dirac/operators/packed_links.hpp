// What an operator reads and what depends on its links and lattice alone: operators that differ in nothing but their
// right-hand sides share it.
#pragma once

#include <array>

#include "dirac/fields/site_layout.hpp"
#include "dirac/operators/staggered_operator.hpp"
#include "dirac/stencil/gauge_field.hpp"
#include "dirac/stencil/neighbour_table.hpp"
#include "halo/pinned_pieces.hpp"

namespace staghorn {

struct PackedLinks {
  // Where `from` holds the same links uncompressed in fp64 on the GPU that is wanted, they come from there. Collective.
  PackedLinks(const Communicator& communicator, const LinkField& links, const SiteLayout& layout,
              const OperatorOptions& options, const PackedLinks* from, PinnedPieces& pieces);

  // Whether an operator with such options reads just this. Local.
  bool serve(const OperatorOptions& other) const;

  OperatorOptions options;  // of the operator that was first to need it
  SiteLayout layout;
  std::array<FaceSites, 2> faces;        // by sending parity
  std::array<NeighbourTable, 2> tables;  // by target parity; CPU only
  std::array<Buffer, 2> boundary;        // by target parity: sites that need a ghost; GPU only
  GaugeField gauge;
};

}  // namespace staghorn
