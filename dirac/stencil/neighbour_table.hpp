// Where the neighbours' vectors and the link behind lie, and with which sign, for every block of one parity and each
// leg of the stencil. Built once for a layout and boundary condition; the CPU kernels read it.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "dirac/fields/site_layout.hpp"
#include "dirac/stencil/boundary.hpp"
#include "dirac/stencil/legs.hpp"
#include "halo/lattice.hpp"

namespace staghorn {

constexpr int max_lanes = 16;

// The neighbours of a leg if they are not one whole block with one sign.
struct SpecialNeighbour {
  enum Kind : std::int32_t {
    permuted,     // one local block, lanes permuted: source[lane] = lane there
    ghost_block,  // one whole block of the ghost buffer
    halves,       // two runs of V/2 consecutive lanes; source[0] and source[V/2] are their first slots, as below
    scattered     // lane by lane: source[lane] = slot, or ~slot in the ghost buffer
  };
  alignas(64) std::int32_t source[max_lanes];
  float sign[max_lanes];  // eta, times -1 where an antiperiodic boundary is crossed
  Kind kind;
  std::int32_t block;
  std::uint32_t phase_lanes;  // bit l: lane l crosses a boundary with a phase other than +-1
};

struct NeighbourTable {
  // neighbours[legs block + leg_number] >= 0: 2 * block + (sign is -1);  < 0: special[~value].
  std::vector<std::int32_t> neighbours;
  std::vector<SpecialNeighbour> special;
  // For a special backward leg: the number of its copy of the links behind (KernelLinks::special_links), which are
  // counted for each set of links; else -1.
  std::vector<std::int32_t> special_link;
  // By set of links: the block and direction that each copy belongs to.
  std::array<std::vector<std::array<std::int32_t, 2>>, 2> special_link_of;
  std::vector<std::int32_t> interior_blocks, boundary_blocks;  // without / with a lane that needs a ghost
  std::int64_t bytes() const;
};

// The sites of each face, as slots of the sending parity in the order in which they are sent: slice by slice, the
// outermost first, and within a slice in the order of slots. In the buffer a face is padded to whole blocks. Face 2 mu:
// sites x_mu = 0, 1, ...; face 2 mu + 1: sites x_mu = L_mu - 1, L_mu - 2, ... Empty where mu is not partitioned.
// A face has as many sites on both sides. The layout of the sender orders them, so the receiver of a slab of another
// width asks for the layout of its neighbour.
struct FaceSites {
  std::array<std::vector<Slot>, 8> slots;
  std::array<std::int32_t, 8> first_block{};  // of the face in the send and ghost buffers
  std::int32_t blocks = 0;                    // of all faces together
};
// `depth`: slices of each face, depth_of(stencil). Local.
FaceSites face_sites(const SiteLayout& layout, Parity parity, int depth = 1);
// The slots of one face; empty where its direction is not partitioned. Local.
std::vector<Slot> sites_of_face(const SiteLayout& layout, Parity parity, int depth, int face);

// Neighbours of the sites of parity `target`; `faces` are the faces of the opposite parity. `layout` and those of the
// neighbouring ranks have the same number of lanes. Local.
NeighbourTable build_neighbour_table(const SiteLayout& layout, const Boundary& boundary, Stencil stencil, Parity target,
                                     const FaceSites& faces);

}  // namespace staghorn
