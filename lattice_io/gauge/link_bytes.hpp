// Links as the bytes of a gauge file. A GaugeHeader says how many rows, which precision and which byte order. Local.
#pragma once

#include <cstddef>
#include <span>

#include "dirac/fields/site_field.hpp"
#include "lattice_io/gauge/gauge_file.hpp"

namespace staghorn {

// Unpacks what block `block` (LinkOrder) holds of consecutive sites into doubles. The third row of a two-row file is
// the conjugate of the cross product of the other two.
void unpack_links(const GaugeHeader& header, int block, std::span<const std::byte> bytes, Links* sites);
// Packs them, rounded to the precision of the file.
void pack_links(const GaugeHeader& header, int block, const Links* sites, std::span<std::byte> bytes);
// The links as a reader of the file will see them: rounded, the third row rebuilt where it is not stored.
LinkField links_as_stored(const GaugeHeader& header, const LinkField& links);

}  // namespace staghorn
