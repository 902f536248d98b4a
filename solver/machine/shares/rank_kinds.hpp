// What each rank computes on, in words that are the same for ranks of one kind.
#pragma once

#include <string>
#include <vector>

#include "halo/communicator.hpp"

namespace staghorn {

// By rank: "cpu x 4 threads", "cuda:0 (NVIDIA H200)", with ", slowed 3" at the end where it is. `cuda_device` and
// `slowness` are those of this rank. Collective.
std::vector<std::string> kinds_of_ranks(const Communicator& all, int cuda_device, double slowness);

}  // namespace staghorn
