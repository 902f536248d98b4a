// Work queued on a GPU that takes longer on purpose (halo/watch/slow_down.hpp), as on a GPU of less bandwidth. The host
// does not wait, and what other streams do goes on.
#pragma once

#include <cstddef>

namespace staghorn::cuda {

// What is queued on `stream` (a cudaStream_t) between the two calls lasts `factor` times as long. `start`: so many
// bytes in the memory of the GPU.
constexpr std::size_t bytes_of_slow_work = 8;
void begin_slow_work(void* start, void* stream);
void end_slow_work(const void* start, double factor, void* stream);

}  // namespace staghorn::cuda
