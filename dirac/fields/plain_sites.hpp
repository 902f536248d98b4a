// Brings the sites of one parity of plain fields to a GPU and back, in the order that they have there.
#pragma once

#include "dirac/fields/site_field.hpp"
#include "halo/pinned_pieces.hpp"

namespace staghorn {

// Calls visit(site, k) for sites number first + k of `parity`, k = 0..count - 1; `site` is the index in plain fields.
// `first` and `count` are multiples of half a row along x.
template <class Visit>
void for_sites_in_order(const Lattice& lattice, Parity parity, std::int64_t first, std::int64_t count,
                        const Visit& visit) {
  const std::int64_t half_row = lattice.local()[0] / 2;
#pragma omp parallel for schedule(static)
  for (std::int64_t row = 0; row < count; row += half_row) {
    std::int64_t site = 2 * (first + row);
    if (Lattice::parity_of(lattice.site_coordinates(site)) != parity) ++site;
    for (std::int64_t k = row; k < row + half_row; ++k, site += 2) visit(site, k);
  }
}

// Sends one item for every site of `parity`. fill(site, item) writes the item on the host; use(piece, first, count)
// queues the work that reads the `count` items of slots from `first` on. Local.
template <class Item, class Fill, class Use>
void send_sites(PinnedPieces& pieces, const Lattice& lattice, Parity parity, const Fill& fill, const Use& use) {
  pieces.send<Item>(
      lattice.local_volume() / 2, lattice.local()[0] / 2,
      [&](Item* piece, std::int64_t first, std::int64_t count) {
        for_sites_in_order(lattice, parity, first, count,
                           [&](std::int64_t site, std::int64_t k) { fill(site, piece[k]); });
      },
      use);
}

// Receives one item for every site of `parity`. make(piece, first, count) queues the work that writes items;
// take(site, item) is then called with each of them. Local.
template <class Item, class Make, class Take>
void receive_sites(PinnedPieces& pieces, const Lattice& lattice, Parity parity, const Make& make, const Take& take) {
  pieces.receive<Item>(lattice.local_volume() / 2, lattice.local()[0] / 2, make,
                       [&](const Item* piece, std::int64_t first, std::int64_t count) {
                         for_sites_in_order(lattice, parity, first, count,
                                            [&](std::int64_t site, std::int64_t k) { take(site, piece[k]); });
                       });
}

}  // namespace staghorn
