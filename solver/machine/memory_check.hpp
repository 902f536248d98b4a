// Refuses what does not fit into memory before it is allocated, and says what would fit.
#pragma once

#include "halo/available_memory.hpp"
#include "solver/machine/memory_estimate.hpp"

namespace staghorn {

struct MemoryBudget {  // bytes of one rank
  double host = 0, device = 0;
};
bool fits(const MemoryEstimate& estimate, const MemoryBudget& budget);

// The nearest requests that fit into the budget of each rank, most alike first: fewer right-hand sides, links of 12
// reals, both, more ranks. "" where none does. Local.
std::string what_would_fit(const SolveShape& shape, const MemoryBudget& budget);

// The most right-hand sides, up to those in `shape`, that fit on every rank; 1 where not even one does. `held` as
// below. Collective.
int most_rhs_that_fit(const Communicator& communicator, const SolveShape& shape, int cuda_device,
                      const MemoryBudget& held);

// Whether a solve fits on every rank. `held` as below. Collective.
bool fits_on_all(const Communicator& communicator, const SolveShape& shape, int cuda_device,
                 const MemoryBudget& held = {});

// Whether the eigenvectors of a GPU are to lie on the host: that is asked for, or it is left open, and the solve does
// not fit with them on the device. Local.
constexpr bool eigenvectors_go_to_host(EigenvectorPlace asked, bool fits_on_device) {
  return asked == EigenvectorPlace::host || (asked == EigenvectorPlace::automatic && !fits_on_device);
}
// The same for a solve on these ranks; false where none has a GPU. Throws Error where a device is asked for then.
// Collective.
bool eigenvectors_go_to_host(const Communicator& communicator, const SolveShape& shape, int cuda_device);

// Throws Error, the same on every rank, where a solve does not fit on one: what it needs by object, what is there, and
// what would fit. `held` is what this rank holds already of the estimate. Collective.
void require_memory(const Communicator& communicator, const SolveShape& shape, int cuda_device,
                    const MemoryBudget& held, GpuMemory counted = GpuMemory::free);

}  // namespace staghorn
