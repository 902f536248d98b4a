#include "solver/machine/shares/rank_kinds.hpp"

#include <omp.h>

#include <cstdio>

#include "halo/device_choice.hpp"

namespace staghorn {

std::vector<std::string> kinds_of_ranks(const Communicator& all, int cuda_device, double slowness) {
  const auto ranks = std::size_t(all.size()), here = std::size_t(all.rank());
  std::vector<double> threads(ranks, 0.0), slownesses(ranks, 0.0);
  threads[here] = cuda_device < 0 ? omp_get_max_threads() : 0;
  slownesses[here] = slowness;
  if (all.size() > 1) {
    all.sum(threads);
    all.sum(slownesses);
  }
  std::vector<std::string> kinds = devices_of_ranks(all, cuda_device);
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    char text[64];
    const int n = int(threads[rank]);
    std::snprintf(text, sizeof text, " x %d thread%s", n, n == 1 ? "" : "s");
    if (n > 0) kinds[rank] += text;
    std::snprintf(text, sizeof text, ", slowed %g", slownesses[rank]);
    if (slownesses[rank] > 1) kinds[rank] += text;
  }
  return kinds;
}

}  // namespace staghorn
