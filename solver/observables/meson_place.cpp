#include "solver/observables/meson_place.hpp"

#include <algorithm>

#include "halo/available_memory.hpp"
#include "solver/observables/cuda_meson_sums.hpp"

namespace staghorn {

MemorySpace MesonPlace::choose(const Communicator& communicator, const Lattice& lattice, int fields, bool thin) {
  if (chosen_) return *chosen_;
  chosen_ = MemorySpace::host;
  if (cuda_device_ < 0) return *chosen_;  // on all ranks
  const double needed =
      double(lattice.local_volume()) * (double(sizeof(ColorVector<double>)) * fields + (thin ? sizeof(Links) : 0));
  constexpr double spare = 256e6;  // tables, sums and faces
  const AvailableMemory available = available_memory(communicator, cuda_device_);
  const double room = std::min(available.device, available.device_limit);
  if (communicator.any(needed + spare > room || !cuda_kind_sums_hold(lattice))) return *chosen_;
  return *(chosen_ = MemorySpace::cuda);
}

const LinkField& MesonPlace::thin(const LinkField& on_host) {
  if (chosen() == MemorySpace::host) return on_host;
  if (!thin_) thin_.emplace(on_host, MemorySpace::cuda);
  return *thin_;
}

}  // namespace staghorn
