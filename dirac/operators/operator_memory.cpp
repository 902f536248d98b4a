#include "dirac/operators/operator_memory.hpp"

#include <algorithm>
#include <cmath>

#include "dirac/fields/site_field.hpp"
#include "dirac/kernels/kernel_table.hpp"
#include "dirac/stencil/hop_cost.hpp"
#include "dirac/stencil/hop_sign.hpp"
#include "dirac/stencil/neighbour_table.hpp"
#include "halo/pinned_pieces.hpp"
#include "halo/transport/transport_p2p.hpp"

namespace staghorn {

namespace {

// The number of special hops (NeighbourTable) of the blocks of one parity.
double special_hops(const SiteLayout& layout, const Boundary& boundary) {
  if (!layout.virtual_nodes()) return 8.0 * layout.blocks();
  double hops = 0;
  for (int mu = 0; mu < 4; ++mu)
    if (layout.lane_grid()[mu] > 1 || layout.lattice().partitioned(mu) || is_phase(boundary.theta[mu]))
      hops += 2.0 * layout.blocks() / layout.lane_extents()[mu];
  return hops;
}

// Bytes of two buffers, one sent and one received, with the faces of one parity.
double face_buffers(const Lattice& lattice, int lanes, double bytes_per_site) {
  double sites = 0;
  for (int mu = 0; mu < 4; ++mu) {
    if (!lattice.partitioned(mu)) continue;
    const double face = double(lattice.local_volume() / lattice.local()[mu]) / 2;
    sites += 2 * lanes * std::ceil(face / lanes);
  }
  return 2 * sites * bytes_per_site;
}

// Bytes of the links of a face, sent and received, while links are packed (KernelLinks).
double neighbour_links(const Lattice& lattice) {
  double sites = 0;
  for (int mu = 0; mu < 4; ++mu)
    if (lattice.partitioned(mu)) sites = std::max(sites, double(lattice.local_volume() / lattice.local()[mu]));
  return 2 * sites * sizeof(Links);
}

bool is_cut(const Lattice& lattice) {
  for (int mu = 0; mu < 4; ++mu)
    if (lattice.partitioned(mu)) return true;
  return false;
}

}  // namespace

OperatorBytes predict_operator_bytes(const Lattice& lattice, const OperatorOptions& options) {
  const HopCost cost = hop_cost(options.precision, options.reconstruct, options.n_rhs);
  const double link = cost.links / hop_legs, vector_site = cost.vector, solution_site = cost.solution;
  OperatorBytes bytes;
  if (options.cuda_device >= 0) {
    const double lanes = SiteLayout(lattice, SiteLayout::one_block).lanes();
    double face_sites = 0;  // sites whose links behind lie on another rank
    for (int mu = 0; mu < 4; ++mu)
      if (lattice.partitioned(mu)) face_sites += double(lattice.local_volume() / lattice.local()[mu]);
    bytes.links = (2 * 4 * lanes + face_sites) * link;
    // Faces that are stored straight into ghosts: two sets of faces, mailboxes, whole pages of IPC.
    constexpr double page = 1 << 21, mailboxes = PeerTransport::mailbox_bytes + 8 * PeerTransport::line;
    if (is_cut(lattice))
      bytes.halo = std::ceil((face_buffers(lattice, 1, vector_site) + mailboxes) / page) * page + 4 * face_sites;
    bytes.vector = lanes * vector_site;
    bytes.solution = lanes * solution_site;
    bytes.packing = neighbour_links(lattice);
    bytes.pieces = 2 * std::min(double(PinnedPieces::bytes_of_one), double(lattice.local_volume()) / 2 * sizeof(Links));
    return bytes;
  }
  const SiteLayout layout = cpu_kernels(options.instruction_set).layout(lattice, options.precision);
  const double blocks = layout.blocks(), special = special_hops(layout, options.boundary);
  bytes.links = 2 * (4 * blocks + special / 2) * layout.lanes() * link;
  bytes.vector = blocks * layout.lanes() * vector_site;
  bytes.solution = blocks * layout.lanes() * solution_site;
  // NeighbourTable: a code for each hop, two words more for a special one, and each block in one of two lists.
  const double tables =
      2 * (blocks * 9 * sizeof(std::int32_t) + special * sizeof(SpecialNeighbour) + special * 2 * sizeof(std::int32_t));
  bytes.halo = face_buffers(lattice, layout.lanes(), vector_site) + tables;
  bytes.packing = neighbour_links(lattice);
  return bytes;
}

}  // namespace staghorn
