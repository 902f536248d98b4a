// Links of a host to plain fields and back. Exact: adjoints, transposes and signs only, and `scale`, which rounds once.
#pragma once

#include "dirac/fields/site_field.hpp"
#include "halo/communicator.hpp"
#include "solver/interface/layouts/host_fields.hpp"

namespace staghorn {

// Buffers of a host's links, where its layout says: one for each direction in order `qdp`, else the first only.
using LinkBuffers = std::array<const void*, 4>;

// What a solver needs to know of links that were taken from a host.
struct TakenLinks {
  Boundary boundary;     // of D with these links; 0 where the phase stays in the links
  VectorSigns signs;     // of vectors in the host's convention: its sign, not its factor
  bool unscaled = true;  // no factor and no phase but signs was multiplied in: links in SU(3) are so still
  // Of fat and long links. Then `unscaled` says that the fat links are thin ones, unitary matrices, too.
  bool has_long = false;  // whether the long links are not zero everywhere
  int long_sign = -1;     // of the coefficient that all long links share
};

// Reads links into `out`, without dagger, phases and signs of the boundary, multiplied by `scale`. A boundary phase
// that is no sign stays in the links, and the result's boundary has none in that direction. `out` lies on the host, or
// on the GPU that the buffers lie on; links as given go to the host, where they are searched for their signs
// (given_phases.hpp). Throws Error where the layout makes no sense, and where links as given are none
// of staggered quarks. Collective.
TakenLinks take_links(const Communicator& communicator, const HostLinks& layout, const LinkBuffers& host,
                      LinkField& out);

// Bytes that have to be free on a GPU for links of the host to be read into a field there: they travel as they lie. 0
// where the host reads them better, since most bytes are others, or no GPU can. Local.
std::int64_t bytes_to_convert_there(const HostLinks& layout, const Extents& local);

// What comes first of that, and all of it for links of several steps: no search for signs, no `scale`. Local.
void read_links(const HostLinks& layout, const LinkBuffers& host, LinkField& out);
// The boundary and the signs of vectors where phases are known, as take_links returns them. Local.
TakenLinks known_phases(const HostLinks& layout);

// Reads fat links into `fat` and long ones into `naik`, without dagger, phases and signs of the boundary, but with
// their coefficient. Both layouts have the same phases and boundary, and scale 1; that of long links has steps = 3.
// Links as given are searched for their signs; where long links are zero and fat ones unitary, as thin links are.
// Throws Error where the layouts do not go together, where a link is not finite, and where determinants speak against
// the phases of a layout. Collective.
TakenLinks take_link_pair(const Communicator& communicator, const HostLinks& fat_layout, const LinkBuffers& fat_host,
                          const HostLinks& long_layout, const LinkBuffers& long_host, LinkField& fat, LinkField& naik);

// Writes plain links into buffers of a host, with dagger, phases and boundary; `scale` is not applied. Bytes between
// sites stay as they are. Throws Error where a boundary phase is no sign, or the phases are not known. Local.
void write_links(const HostLinks& layout, const LinkField& in, const std::array<void*, 4>& host);

// Copies links from one layout to another, with the signs in which they differ; `scale` is not looked at. Throws Error
// where one of them carries a boundary phase that is no sign and the other does not, or phases that are not known.
// `lattice`: the local lattice of this process. Local.
void convert_links(const Lattice& lattice, const HostLinks& from_layout, const LinkBuffers& from,
                   const HostLinks& to_layout, const std::array<void*, 4>& to);

}  // namespace staghorn
