#include "dirac/operators/operator_memory.hpp"

#include <algorithm>
#include <cmath>
#include <span>

#include "dirac/fields/site_field.hpp"
#include "dirac/kernels/kernel_table.hpp"
#include "dirac/stencil/hop_cost.hpp"
#include "dirac/stencil/hop_sign.hpp"
#include "dirac/stencil/neighbour_table.hpp"
#include "halo/pinned_pieces.hpp"
#include "halo/transport/transport_p2p.hpp"

namespace staghorn {

namespace {

constexpr LinkSet all_sets[] = {LinkSet::near, LinkSet::naik};

// The number of special legs of one set of links (NeighbourTable), of the blocks of one parity.
double special_hops(const SiteLayout& layout, const Boundary& boundary, LinkSet set) {
  if (!layout.virtual_nodes()) return 8.0 * layout.blocks();
  double hops = 0;
  for (int mu = 0; mu < 4; ++mu) {
    const int extent = layout.lane_extents()[mu], lanes = layout.lane_grid()[mu];
    const bool special_rim = layout.lattice().partitioned(mu) || is_phase(boundary.theta[mu]);
    for (int x = 0; x < extent; ++x) {  // a lane's neighbour lies `over` lanes further on
      const int over = (x + steps_of(set)) / extent;
      if (over > 0 && (special_rim || over % lanes != 0)) hops += 2.0 * layout.blocks() / extent;
    }
  }
  return hops;
}

// Bytes of two buffers, one sent and one received, with the faces of one parity.
double face_buffers(const Lattice& lattice, int lanes, int depth, double bytes_per_site) {
  double sites = 0;
  for (int mu = 0; mu < 4; ++mu) {
    if (!lattice.partitioned(mu)) continue;
    const double face = depth * (double(lattice.local_volume() / lattice.local()[mu]) / 2);
    sites += 2 * lanes * std::ceil(face / lanes);
  }
  return 2 * sites * bytes_per_site;
}

// Bytes of faces on a CPU among unlike ranks: as they travel, ghosts as kernels read them, and the order of sites
// (FaceWire): a slot for each site that is sent and for each that is received, of both parities.
double wire_bytes(const Lattice& lattice, int lanes, int depth, double bytes_per_site) {
  return face_buffers(lattice, 1, depth, bytes_per_site) + face_buffers(lattice, lanes, depth, bytes_per_site) / 2 +
         2 * face_buffers(lattice, 1, depth, sizeof(Slot));
}

// Bytes of the links of a face, sent and received, while links are packed (KernelLinks): of all slices received, and of
// one sent.
double neighbour_links(const Lattice& lattice, int depth) {
  double sites = 0;
  for (int mu = 0; mu < 4; ++mu)
    if (lattice.partitioned(mu)) sites = std::max(sites, double(lattice.local_volume() / lattice.local()[mu]));
  return (depth + 1) * sites * sizeof(Links);
}

bool is_cut(const Lattice& lattice) {
  for (int mu = 0; mu < 4; ++mu)
    if (lattice.partitioned(mu)) return true;
  return false;
}

}  // namespace

OperatorBytes predict_operator_bytes(const Lattice& lattice, const OperatorOptions& options) {
  const HopForm form = options.form();
  const HopCost cost = hop_cost(options.precision, form, options.n_rhs);
  const double vector_site = cost.vector, solution_site = cost.solution;
  const int depth = depth_of(form.stencil);
  const std::span<const LinkSet> sets(all_sets, std::size_t(link_sets(form.stencil)));
  OperatorBytes bytes;
  if (options.cuda_device >= 0) {
    const double lanes = SiteLayout(lattice, SiteLayout::one_block).lanes();
    double face_sites = 0;  // sites whose links behind lie on another rank
    for (int mu = 0; mu < 4; ++mu)
      if (lattice.partitioned(mu)) face_sites += double(lattice.local_volume() / lattice.local()[mu]);
    for (const LinkSet set : sets)
      bytes.links += (2 * 4 * lanes + steps_of(set) * face_sites) * link_bytes(options.precision, form.of(set));
    // Faces that are stored straight into ghosts: two sets of faces, mailboxes, whole pages of IPC.
    constexpr double page = 1 << 21, mailboxes = PeerTransport::mailbox_bytes + 8 * PeerTransport::line;
    if (is_cut(lattice))
      bytes.halo =
          std::ceil((face_buffers(lattice, 1, depth, vector_site) + mailboxes) / page) * page + 4 * depth * face_sites;
    bytes.vector = lanes * vector_site;
    bytes.solution = lanes * solution_site;
    bytes.packing = neighbour_links(lattice, depth);
    bytes.pieces = 2 * std::min(double(PinnedPieces::bytes_of_one), double(lattice.local_volume()) / 2 * sizeof(Links));
    return bytes;
  }
  const SiteLayout layout = cpu_kernels(options.instruction_set).layout(lattice, options.precision);
  const double blocks = layout.blocks();
  double special = 0;
  for (const LinkSet set : sets) {
    const double of_set = special_hops(layout, options.boundary, set);
    bytes.links += 2 * (4 * blocks + of_set / 2) * layout.lanes() * link_bytes(options.precision, form.of(set));
    special += of_set;
  }
  bytes.vector = blocks * layout.lanes() * vector_site;
  bytes.solution = blocks * layout.lanes() * solution_site;
  // NeighbourTable: a code for each leg, two words more for a special one, and each block in one of two lists.
  const double tables = 2 * (blocks * (legs_of(form.stencil) + 1) * sizeof(std::int32_t) +
                             special * sizeof(SpecialNeighbour) + special * 2 * sizeof(std::int32_t));
  bytes.halo = (options.unlike_ranks ? wire_bytes(lattice, layout.lanes(), depth, vector_site)
                                     : face_buffers(lattice, layout.lanes(), depth, vector_site)) +
               tables;
  bytes.packing = neighbour_links(lattice, depth);
  return bytes;
}

}  // namespace staghorn
