// Links as the bytes of a gauge file. A GaugeHeader says how many rows, which precision and which byte order. Local.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "dirac/fields/site_field.hpp"
#include "lattice_io/files/posix_file.hpp"
#include "lattice_io/gauge/gauge_file.hpp"

namespace staghorn {

// Unpacks what block `block` (LinkOrder) holds of consecutive sites into doubles. The third row of a two-row file is
// the conjugate of the cross product of the other two.
void unpack_links(const GaugeHeader& header, int block, std::span<const std::byte> bytes, Links* sites);
// Packs them, rounded to the precision of the file.
void pack_links(const GaugeHeader& header, int block, const Links* sites, std::span<std::byte> bytes);
// Where the first row of links is one of a unitary matrix only in the other byte order than header.big_endian says,
// takes that one, with a warning that begins with `said`. Of a file whose sites lie at header.data_offset.
void find_byte_order(const PosixFile& file, GaugeHeader& header, const std::string& said);
// The links as a reader of the file will see them: rounded, the third row rebuilt where it is not stored.
LinkField links_as_stored(const GaugeHeader& header, const LinkField& links);

}  // namespace staghorn
