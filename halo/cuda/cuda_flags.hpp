// Flags and counters in the memory of other ranks. A rank raises a flag after it has stored a face, and waits for a
// flag before it reads one. Everything is queued on CUDA's default stream; the host does not wait.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "halo/cuda/wait_limits.hpp"

namespace staghorn::cuda {

inline constexpr int max_counters = 16;

using Flags = std::array<std::uint64_t*, 8>;  // nullptr: there is no such flag

void raise_flags(const Flags& flags, std::uint64_t round);
// Sets *failed (pinned) if a flag has not reached `round` within the limits.
void wait_for_flags(const Flags& flags, std::uint64_t round, const WaitLimits& limits, int* failed);
// Adds 1 many times, by many threads, to each of at most max_counters counters. Returns how often.
std::uint64_t add_to_counters(const std::vector<std::uint64_t*>& counters);

}  // namespace staghorn::cuda
