// What a GPU does before its first use, and what is known of it until then.
#pragma once

#include <cstddef>
#include <future>

namespace staghorn::cuda {

// Bytes of its memory, used or not. Throws Error where there is no such GPU. Local.
std::size_t all_bytes(int index);

// The first use of a GPU waits for some tenths of a second until its context is made. A thread makes it, beside the
// work of the caller. What fails there fails again where the GPU is used. -1: does nothing. Local.
class StartBeside {
 public:
  explicit StartBeside(int cuda_device);
  ~StartBeside();
  StartBeside(const StartBeside&) = delete;
  StartBeside& operator=(const StartBeside&) = delete;

 private:
  std::future<void> made_;
};

}  // namespace staghorn::cuda
