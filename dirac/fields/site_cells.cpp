#include "dirac/fields/site_cells.hpp"

namespace staghorn {

SiteCells::SiteCells(const SiteLayout& layout) : whole_blocks(layout.virtual_nodes()) {
  const Extents& extents = layout.lane_extents();  // the local lattice where there are no virtual nodes
  count = volume(extents) / 16;
  places.reserve(std::size_t(count) * sites);
  Coordinates first{};
  for (first[3] = 0; first[3] < extents[3]; first[3] += 2)
    for (first[2] = 0; first[2] < extents[2]; first[2] += 2)
      for (first[1] = 0; first[1] < extents[1]; first[1] += 2)
        for (first[0] = 0; first[0] < extents[0]; first[0] += 2)
          for (int s = 0; s < sites; ++s) {
            const Slot slot =
                layout.slot({first[0], first[1] + (s & 1), first[2] + (s >> 1 & 1), first[3] + (s >> 2 & 1)});
            places.push_back(whole_blocks ? slot / layout.lanes() : slot);
          }
  for (int s = 0; s < sites; ++s) offsets[std::size_t(s)] = places[std::size_t(s)] - places[0];
}

}  // namespace staghorn
