// Work queued on a GPU that takes longer on purpose (halo/watch/slow_down.hpp), as on a GPU of less bandwidth. The host
// does not wait, and what other streams do goes on.
#pragma once

namespace staghorn::cuda {

// What is queued on the default stream between the two calls lasts `factor` times as long. `start`: eight bytes in the
// memory of the GPU.
void begin_slow_work(void* start);
void end_slow_work(const void* start, double factor);

}  // namespace staghorn::cuda
