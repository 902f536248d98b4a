// Flags and counters in the memory of other ranks. Flags are raised when faces are stored, waited for before they are
// read. Queued on CUDA's default stream; the host does not wait.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

namespace staghorn::cuda {

using Flags = std::array<std::uint64_t*, 8>;  // nullptr: there is no such flag

void raise_flags(const Flags& flags, std::uint64_t round);
// Sets *failed (pinned) if a flag has not reached `round` within the limit.
void wait_for_flags(const Flags& flags, std::uint64_t round, long long limit_ns, int* failed);
// Adds so many times 1, by many threads, to each of up to 16 counters.
std::uint64_t add_to_counters(const std::vector<std::uint64_t*>& counters);

}  // namespace staghorn::cuda
