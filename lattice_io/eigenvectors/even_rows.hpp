// Even sites of rows on their way between file and ranks. Private to this folder. Local.
//
// A row of even sites has half as many sites as a row of the lattice, and its vectors half as many bytes. Sites travel
// between file and ranks (site_slabs.hpp) by whole rows of a rank, whose length is even. So a row of n sites of half
// the bytes stands for n/2 vectors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "halo/lattice.hpp"

namespace staghorn {

// Calls visit(site, bytes of its vector) for the even sites of some whole rows of this rank. `Bytes` may be const.
template <class Bytes, class Visit>
void each_even_site(const Lattice& lattice, std::int64_t first_site, std::span<Bytes> rows, std::int64_t vector_bytes,
                    const Visit& visit) {
  const std::int64_t row_sites = lattice.local()[0];
  const auto row_bytes = std::size_t(row_sites / 2 * vector_bytes);
  Bytes* at = rows.data();
  for (std::int64_t row = first_site; at != rows.data() + rows.size(); row += row_sites) {
    const Coordinates begin = lattice.to_global(lattice.site_coordinates(row));
    const std::int64_t first = row + ((begin[0] + begin[1] + begin[2] + begin[3]) & 1);
    for (std::int64_t i = 0; i < row_sites / 2; ++i) visit(first + 2 * i, at + i * vector_bytes);
    at += row_bytes;
  }
}

}  // namespace staghorn
