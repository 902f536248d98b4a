// Which device a session computes on.
#pragma once

#include <string>
#include <vector>

#include "halo/communicator.hpp"

namespace staghorn {

// -1 for the CPU, else the number of the GPU, for "auto" | "cpu" | "cuda" | "cuda:n", or a list of these with commas:
// rank k of a host takes entry k modulo their number. auto takes a GPU if there is one, else the CPU. With auto and
// cuda, the ranks of a host that take the same entry share its GPUs in turn. Throws Error that names the devices there
// are. Local.
int choose_device(const std::string& request, int rank_on_host);

// The same, where an Error also says the rank and the host that lack the device. Local.
int choose_device(const std::string& request, const Communicator& communicator, int rank_on_host);

// "cpu" or "cuda:0 (NVIDIA H200)". Local.
std::string describe_device(int cuda_device);
// The same of every rank, on every rank. Collective.
std::vector<std::string> devices_of_ranks(const Communicator& communicator, int cuda_device);
// Throws Error where some ranks compute on CPUs and others on GPUs. `devices` are those of all ranks. Local.
void require_one_kind(const std::vector<std::string>& devices);
// The first device if all ranks compute on CPUs or all on GPUs; else "cuda:0 (NVIDIA H200) + 3 x cpu". Local.
std::string describe_devices(const std::vector<std::string>& devices);

}  // namespace staghorn
