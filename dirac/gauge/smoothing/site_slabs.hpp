// Loops over the local sites by all threads.
#pragma once

#include <algorithm>
#include <cstdint>

#include "halo/watch/activity.hpp"

namespace staghorn {

struct SiteSlab {
  std::int64_t begin, end;
};

// Calls work(slab) for slabs of sites, a few hundred each, by all threads.
template <class Work>
void for_slabs(std::int64_t sites, const Work& work) {
  constexpr std::int64_t sites_per_slab = 128;
#pragma omp parallel for
  for (std::int64_t begin = 0; begin < sites; begin += sites_per_slab) {
    work(SiteSlab{begin, std::min(sites, begin + sites_per_slab)});
    made_progress();
  }
}

}  // namespace staghorn
