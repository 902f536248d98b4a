// Which device a session computes on.
#pragma once

#include <string>

#include "halo/lattice.hpp"

namespace staghorn {

// -1 for the CPU, else the number of the GPU, for "auto" | "cpu" | "cuda" | "cuda:n". auto takes the first GPU where
// there is one that can hold this lattice whole (one rank, no loop-back), else the CPU. Throws Error naming what there
// is. Local.
int choose_device(const std::string& request, const Lattice& lattice);

// "cpu" or "cuda:0 (NVIDIA H200)".
std::string describe_device(int cuda_device);

}  // namespace staghorn
