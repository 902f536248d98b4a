// Which device a session computes on.
#pragma once

#include <string>

namespace staghorn {

// -1 for the CPU, else the number of the GPU, for "auto" | "cpu" | "cuda" | "cuda:n". auto takes a GPU where
// there is one, else the CPU; auto and cuda deal the GPUs of a host to its ranks in turn. Throws Error naming what
// there is. Local.
int choose_device(const std::string& request, int rank_on_host);

// "cpu" or "cuda:0 (NVIDIA H200)".
std::string describe_device(int cuda_device);

}  // namespace staghorn
