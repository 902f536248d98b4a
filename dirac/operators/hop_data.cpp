#include "dirac/operators/hop_data.hpp"

#include <algorithm>
#include <set>

namespace staghorn {

namespace {

MemorySpace space_of(const OperatorOptions& options) {
  return options.cuda_device >= 0 ? MemorySpace::cuda : MemorySpace::host;
}

// The CPU reads from tables where neighbours are; the GPU computes it.
std::array<NeighbourTable, 2> both_tables(const SiteLayout& layout, const OperatorOptions& options,
                                          const std::array<FaceSites, 2>& faces) {
  if (space_of(options) == MemorySpace::cuda) return {};
  return {build_neighbour_table(layout, options.boundary, options.stencil, Parity::even, faces[1]),
          build_neighbour_table(layout, options.boundary, options.stencil, Parity::odd, faces[0])};
}

// The sites that need a ghost, as the GPU reads them.
Buffer boundary_list(const OperatorOptions& options, const FaceSites& faces) {
  if (space_of(options) == MemorySpace::host) return {};
  std::set<Slot> sites;
  for (const std::vector<Slot>& face : faces.slots) sites.insert(face.begin(), face.end());
  Buffer host(sites.size() * sizeof(Slot)), device(host.bytes(), MemorySpace::cuda);
  std::copy(sites.begin(), sites.end(), reinterpret_cast<Slot*>(host.data()));
  device.copy_from(host);
  return device;
}

// How one set of links gets into its kernel form.
struct Packing {
  const Communicator& communicator;
  const LinkField& links;
  const SiteLayout& layout;
  KernelLinkForm form;
  const KernelLinks* full;  // on the same GPU, which has the same links in fp64 with 18 reals; nullptr: none

  Packing(const Communicator& communicator, const LinkField& links, LinkSet set, const HopData& data,
          const HopData* from)
      : communicator(communicator),
        links(links),
        layout(data.layout),
        form{data.options.precision, data.options.form().of(set), set, data.options.stencil == Stencil::improved} {
    // Beside CPUs every rank packs its links from those on the host, in the same collective steps.
    const bool is_full = !data.options.unlike_ranks && from && from->options.cuda_device >= 0 &&
                         from->options.cuda_device == data.options.cuda_device &&
                         from->options.stencil == data.options.stencil && from->options.precision == Precision::fp64 &&
                         from->options.form().of(set) == Reconstruct::none18;
    full = is_full ? &from->of(set) : nullptr;
  }

  KernelLinks made(const HopData& data, PinnedPieces& pieces) const {
    if (space_of(data.options) == MemorySpace::host) return {communicator, links, layout, form, data.tables};
    if (full) return {communicator, links, *full, layout, form};
    return {communicator, links, layout, form, pieces};
  }
  void put_into(KernelLinks& kept, const HopData& data, PinnedPieces& pieces) const {
    if (space_of(data.options) == MemorySpace::host)
      kept.copy_from(made(data, pieces));
    else if (full)
      kept.convert(communicator, links, *full, layout, form);
    else
      kept.pack(communicator, links, layout, form, pieces);
  }
};

KernelLinks make_links(const Communicator& communicator, const LinkField& links, LinkSet set, const HopData& data,
                       const HopData* from, PinnedPieces& pieces) {
  return Packing(communicator, links, set, data, from).made(data, pieces);
}

std::optional<KernelLinks> make_naik_links(const Communicator& communicator, const OperatorLinks& links,
                                           const HopData& data, const HopData* from, PinnedPieces& pieces) {
  if (!links.naik) return {};
  return make_links(communicator, *links.naik, LinkSet::naik, data, from, pieces);
}

}  // namespace

HopData::HopData(const Communicator& communicator, const OperatorLinks& links, const SiteLayout& layout,
                 const OperatorOptions& options, const HopData* from, PinnedPieces& pieces)
    : options(options),
      layout(layout),
      faces{face_sites(layout, Parity::even, depth_of(options.stencil)),
            face_sites(layout, Parity::odd, depth_of(options.stencil))},
      tables(both_tables(layout, options, faces)),
      boundary{boundary_list(options, faces[0]), boundary_list(options, faces[1])},
      links(make_links(communicator, links.near, LinkSet::near, *this, from, pieces)),
      naik(make_naik_links(communicator, links, *this, from, pieces)),
      naik_scale(links.naik_scale) {}

void HopData::reload(const Communicator& communicator, const OperatorLinks& other, const HopData* from,
                     PinnedPieces& pieces) {
  Packing(communicator, other.near, LinkSet::near, *this, from).put_into(links, *this, pieces);
  if (naik) Packing(communicator, *other.naik, LinkSet::naik, *this, from).put_into(*naik, *this, pieces);
  naik_scale = other.naik_scale;
  ++filling;
}

bool HopData::serves(const OperatorOptions& other) const {
  return options.cuda_device == other.cuda_device && options.precision == other.precision &&
         options.stencil == other.stencil && options.reconstruct == other.reconstruct &&
         options.naik_reconstruct == other.naik_reconstruct && options.boundary.theta == other.boundary.theta &&
         options.instruction_set == other.instruction_set;
}

}  // namespace staghorn
