// Whether all ranks lay out their fields alike.
#pragma once

#include "dirac/kernels/kernel_table.hpp"
#include "halo/communicator.hpp"

namespace staghorn {

// True if the kernels of some ranks lay out fields differently: on a CPU beside a GPU, or with vector registers of
// another width. The same on all ranks. Collective.
bool layouts_differ(const Communicator& communicator, const KernelTable& kernels);

}  // namespace staghorn
