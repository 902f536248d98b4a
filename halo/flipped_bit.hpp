// One bit of a field that changes, as in a fault of memory. For tests. Local.
#pragma once

#include <cstdint>

#include "halo/buffer.hpp"
#include "halo/cuda/cuda_device.hpp"

namespace staghorn {

// Changes one bit of `bytes` bytes at `data`, counted from the first, modulo the bits that there are.
inline void flip_bit(std::byte* data, std::size_t bytes, MemorySpace space, std::uint64_t bit) {
  if (bytes == 0) return;
  std::byte* const at = data + bit / 8 % bytes;
  std::byte value{};
  if (space == MemorySpace::cuda)
    cuda::copy_to_host(&value, at, 1);
  else
    value = *at;
  value ^= std::byte(1 << bit % 8);
  if (space == MemorySpace::cuda)
    cuda::copy_to_device(at, &value, 1);
  else
    *at = value;
}

}  // namespace staghorn
