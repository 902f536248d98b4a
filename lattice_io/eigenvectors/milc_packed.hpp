// Where the sites of a vector lie in MILC's packed files. Private to this folder.
//
// A packed vector of a lattice X x Y x Z x T lies on the sites (x, y, z, t) with t < T/2. They hold
//
//   v(x, y, z, t)                     where x + y + z + t is even
//   v((x + 1) mod X, y, z, t + T/2)   where it is odd
//
// That is every even site once where T/2 is even. A packed row of X sites so holds the even sites of two rows of the
// lattice, (y, z, t) and (y, z, t + T/2). The ranks exchange them as such a pair (RowOrder::halves_in_turns); on the
// file's side, where this takes a second slab, the pair is shuffled into the packed row.
#pragma once

#include <functional>

#include "lattice_io/files/scidac.hpp"

namespace staghorn {

constexpr bool can_be_packed(const Extents& extents) { return extents[3] % 4 == 0; }
// The sites with t < T/2.
Hypercube packed_half(const Extents& extents);

// Reads a packed field and hands the vectors of this rank's even sites to `place`, by local site; several threads call
// it at once. Compares the checksums. Collective.
ChecksumResults read_packed_sites(const Communicator& communicator, const Lattice& lattice, const PosixFile& file,
                                  const ScidacField& field,
                                  const std::function<void(std::int64_t site, const std::byte* from)>& place);
// Asks `pack` for the vector of each even site of this rank, `site_bytes` long, and hands packed sites to `store`, some
// on each rank. Collective.
void write_packed_sites(const Communicator& communicator, const Lattice& lattice, std::int64_t site_bytes,
                        const std::function<void(std::int64_t site, std::byte* to)>& pack,
                        const SiteSlabs::Store& store);

}  // namespace staghorn
