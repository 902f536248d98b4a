// One set of links in the layout of the kernels, [parity][mu][block][real][lane], in one of the forms of
// link_forms.hpp.
#pragma once

#include <array>

#include "dirac/algebra/precision.hpp"
#include "dirac/fields/site_field.hpp"
#include "dirac/fields/site_layout.hpp"
#include "dirac/stencil/legs.hpp"
#include "dirac/stencil/neighbour_table.hpp"
#include "halo/buffer.hpp"
#include "halo/communicator.hpp"
#include "halo/pinned_pieces.hpp"

namespace staghorn {

// What kernels read. `sized`: links need not be unitary, so that fp16 divides them by their largest real.
struct KernelLinkForm {
  Precision precision = Precision::fp64;
  Reconstruct reconstruct = Reconstruct::none18;
  LinkSet set = LinkSet::near;
  bool sized = false;
};

// All constructors throw Error on all ranks where a link has no stored form: fp16 keeps |re|, |im| <= 1.
class KernelLinks {
 public:
  // Packs `links` for the CPU. Where the links behind a block are permuted or remote (the special backward hops of
  // `tables`, by target parity), copies of them are kept in the order in which they are read. Collective.
  KernelLinks(const Communicator& communicator, const LinkField& links, const SiteLayout& layout,
              const KernelLinkForm& form, const std::array<NeighbourTable, 2>& tables);

  // Packs `links`, which lie on the host or on the GPU, for the GPU, and the links behind the faces x_mu = 0 that are
  // cut. Collective.
  KernelLinks(const Communicator& communicator, const LinkField& links, const SiteLayout& layout,
              const KernelLinkForm& form, PinnedPieces& pieces);

  // Converts on the GPU what packing `links` in fp64 with 18 reals has made there: the same result as packing `links`
  // again. Collective.
  KernelLinks(const Communicator& communicator, const LinkField& links, const KernelLinks& full,
              const SiteLayout& layout, const KernelLinkForm& form);

  // The last two again, for other links of the same layout and form; addresses stay. After an Error the links are lost.
  void pack(const Communicator& communicator, const LinkField& links, const SiteLayout& layout,
            const KernelLinkForm& form, PinnedPieces& pieces);
  void convert(const Communicator& communicator, const LinkField& links, const KernelLinks& full,
               const SiteLayout& layout, const KernelLinkForm& form);

  const void* links(Parity parity) const { return links_[int(parity)].data(); }
  const void* special_links(Parity target) const { return special_links_[int(target)].data(); }
  const void* ghost_links(Parity target, int mu) const { return ghost_links_[int(target)][mu].data(); }
  // Links are stored divided by this; 1 unless the form is sized and fp16.
  double scale() const { return scale_; }
  std::int64_t bytes() const;

  // Takes the links of `other`, of the same layout and form; addresses stay. Local.
  void copy_from(const KernelLinks& other);

 private:
  double scale_ = 1;
  std::array<Buffer, 2> links_, special_links_;
  std::array<std::array<Buffer, 4>, 2> ghost_links_;
};

}  // namespace staghorn
