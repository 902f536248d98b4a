// Which device a session computes on.
#pragma once

#include <string>

namespace staghorn {

// -1 for the CPU, else the number of the GPU, for "auto" | "cpu" | "cuda" | "cuda:n". auto takes a GPU if there is
// one, else the CPU. With auto and cuda, rank k of a host takes GPU k modulo their number. Throws Error that names the
// devices there are. Local.
int choose_device(const std::string& request, int rank_on_host);

// "cpu" or "cuda:0 (NVIDIA H200)".
std::string describe_device(int cuda_device);

}  // namespace staghorn
