// Bytes of the host on their way to a GPU and back, through pinned memory. Local.
#pragma once

#include <cstdint>

#include "halo/buffer.hpp"

namespace staghorn {

class StagedBytes {
 public:
  // Memory on the GPU for so many bytes: that of before, if it is enough.
  std::byte* room(std::int64_t bytes);
  // From the host to `to` on the GPU, and from there to the host. On return all of it is there.
  void send(std::byte* to, const void* from, std::int64_t bytes);
  void receive(void* to, const std::byte* from, std::int64_t bytes);

 private:
  Buffer there_, ring_;  // on the GPU; pinned
};

}  // namespace staghorn
