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

KernelLinks make_links(const Communicator& communicator, const LinkField& links, LinkSet set, const HopData& data,
                       const HopData* from, PinnedPieces& pieces) {
  const OperatorOptions& options = data.options;
  const KernelLinkForm form{options.precision, options.form().of(set), set, options.stencil == Stencil::improved};
  if (space_of(options) == MemorySpace::host) return KernelLinks(communicator, links, data.layout, form, data.tables);
  const bool full = from && from->options.cuda_device == options.cuda_device &&
                    from->options.stencil == options.stencil && from->options.precision == Precision::fp64 &&
                    from->options.form().of(set) == Reconstruct::none18;
  if (full) return KernelLinks(communicator, links, from->of(set), data.layout, form);
  return KernelLinks(communicator, links, data.layout, form, pieces);
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

bool HopData::serves(const OperatorOptions& other) const {
  return options.cuda_device == other.cuda_device && options.precision == other.precision &&
         options.stencil == other.stencil && options.reconstruct == other.reconstruct &&
         options.naik_reconstruct == other.naik_reconstruct && options.boundary.theta == other.boundary.theta &&
         options.instruction_set == other.instruction_set;
}

}  // namespace staghorn
