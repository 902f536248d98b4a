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
  return {build_neighbour_table(layout, options.boundary, Parity::even, faces[1]),
          build_neighbour_table(layout, options.boundary, Parity::odd, faces[0])};
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

KernelLinks make_links(const Communicator& communicator, const LinkField& links, const HopData& data,
                       const HopData* from, PinnedPieces& pieces) {
  const OperatorOptions& options = data.options;
  if (space_of(options) == MemorySpace::host)
    return KernelLinks(communicator, links, data.layout, options.precision, options.reconstruct, data.tables);
  const bool full = from && from->options.cuda_device == options.cuda_device &&
                    from->options.precision == Precision::fp64 && from->options.reconstruct == Reconstruct::none18;
  if (full) return KernelLinks(communicator, links, from->links, data.layout, options.precision, options.reconstruct);
  return KernelLinks(communicator, links, data.layout, options.precision, options.reconstruct, pieces);
}

}  // namespace

HopData::HopData(const Communicator& communicator, const LinkField& links, const SiteLayout& layout,
                 const OperatorOptions& options, const HopData* from, PinnedPieces& pieces)
    : options(options),
      layout(layout),
      faces{face_sites(layout, Parity::even), face_sites(layout, Parity::odd)},
      tables(both_tables(layout, options, faces)),
      boundary{boundary_list(options, faces[0]), boundary_list(options, faces[1])},
      links(make_links(communicator, links, *this, from, pieces)) {}

bool HopData::serves(const OperatorOptions& other) const {
  return options.cuda_device == other.cuda_device && options.precision == other.precision &&
         options.reconstruct == other.reconstruct && options.boundary.theta == other.boundary.theta &&
         options.instruction_set == other.instruction_set;
}

}  // namespace staghorn
