// The links in the lane-blocked layout of the kernels: [parity][mu][block][real][lane], 18 or 12 reals a link, rows
// first, or 8.
#pragma once

#include <array>

#include "dirac/algebra/precision.hpp"
#include "dirac/fields/site_field.hpp"
#include "dirac/fields/site_layout.hpp"
#include "dirac/stencil/neighbour_table.hpp"
#include "halo/buffer.hpp"
#include "halo/communicator.hpp"
#include "halo/pinned_pieces.hpp"

namespace staghorn {

class KernelLinks {
 public:
  // Packs `links` for the CPU, and the links behind of every special backward hop of `tables` (by target parity): lanes
  // that are permuted or remote get a copy in the order in which they are read. Collective.
  KernelLinks(const Communicator& communicator, const LinkField& links, const SiteLayout& layout, Precision precision,
              Reconstruct reconstruct, const std::array<NeighbourTable, 2>& tables);

  // The same for the GPU, and the links behind the faces x_mu = 0 that are cut. Collective.
  KernelLinks(const Communicator& communicator, const LinkField& links, const SiteLayout& layout, Precision precision,
              Reconstruct reconstruct, PinnedPieces& pieces);

  // The links of `full`, which has them on the GPU in fp64 with 18 reals, as packing would give them: without the host.
  // Local.
  KernelLinks(const KernelLinks& full, const SiteLayout& layout, Precision precision, Reconstruct reconstruct);

  const void* links(Parity parity) const { return links_[int(parity)].data(); }
  const void* special_links(Parity target) const { return special_links_[int(target)].data(); }
  const void* ghost_links(Parity target, int mu) const { return ghost_links_[int(target)][mu].data(); }
  std::int64_t bytes() const;

 private:
  std::array<Buffer, 2> links_, special_links_;
  std::array<std::array<Buffer, 4>, 2> ghost_links_;
};

}  // namespace staghorn
