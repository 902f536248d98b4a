// What hops read besides vectors, made from the links and the lattice alone: packed links, neighbour tables, face
// sites. Operators that differ only in their right-hand sides share it, and any of them may reload the links for all.
#pragma once

#include <array>
#include <optional>

#include "dirac/fields/site_layout.hpp"
#include "dirac/operators/operator_options.hpp"
#include "dirac/stencil/kernel_links.hpp"
#include "dirac/stencil/neighbour_table.hpp"
#include "dirac/stencil/operator_links.hpp"
#include "halo/pinned_pieces.hpp"

namespace staghorn {

struct HopData {
  // If `from` holds the same links uncompressed in fp64 on the GPU of `options`, links are converted from there.
  // Collective.
  HopData(const Communicator& communicator, const OperatorLinks& links, const SiteLayout& layout,
          const OperatorOptions& options, const HopData* from, PinnedPieces& pieces);

  // Other links of the same action, in place: addresses stay. After an Error the links are lost. Collective.
  void reload(const Communicator& communicator, const OperatorLinks& links, const HopData* from, PinnedPieces& pieces);

  // Whether an operator with the options `other` reads exactly this data. Local.
  bool serves(const OperatorOptions& other) const;

  OperatorOptions options;  // of the operator that made the data
  SiteLayout layout;
  std::array<FaceSites, 2> faces;        // by sending parity
  std::array<NeighbourTable, 2> tables;  // by target parity; CPU only
  std::array<Buffer, 2> boundary;        // by target parity: sites that need a ghost; GPU only
  KernelLinks links;                     // thin or fat
  std::optional<KernelLinks> naik;       // improved quarks
  double naik_scale = 0;                 // c_N, which is in no stored link
  long filling = 0;                      // how often links were put in: who keeps what follows from them compares

  const KernelLinks& of(LinkSet set) const { return set == LinkSet::naik ? *naik : links; }
};

}  // namespace staghorn
