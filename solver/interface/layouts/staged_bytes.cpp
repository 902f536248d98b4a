#include "solver/interface/layouts/staged_bytes.hpp"

#include <algorithm>
#include <cstring>

#include "halo/cuda/cuda_device.hpp"

namespace staghorn {

namespace {

// All threads, a few pages each.
void copy_on_host(std::byte* to, const std::byte* from, std::int64_t bytes) {
  constexpr std::int64_t of_thread = std::int64_t{1} << 17;
#pragma omp parallel for schedule(static)
  for (std::int64_t first = 0; first < bytes; first += of_thread)
    std::memcpy(to + first, from + first, std::size_t(std::min(of_thread, bytes - first)));
}

}  // namespace

std::byte* StagedBytes::room(std::int64_t bytes) {
  if (there_.bytes() < std::size_t(bytes)) there_ = Buffer(std::size_t(bytes), MemorySpace::cuda);
  return there_.data();
}

void StagedBytes::send(std::byte* to, const void* from, std::int64_t bytes) {
  const auto* const here = static_cast<const std::byte*>(from);
  pieces_.send<std::byte>(
      bytes, 1,
      [&](std::byte* piece, std::int64_t first, std::int64_t count) { copy_on_host(piece, here + first, count); },
      [&](const std::byte* piece, std::int64_t first, std::int64_t count) {
        cuda::queue_copy(to + first, piece, std::size_t(count));
      });
}

void StagedBytes::receive(void* to, const std::byte* from, std::int64_t bytes) {
  auto* const here = static_cast<std::byte*>(to);
  pieces_.receive<std::byte>(
      bytes, 1,
      [&](std::byte* piece, std::int64_t first, std::int64_t count) {
        cuda::queue_copy(piece, from + first, std::size_t(count));
      },
      [&](const std::byte* piece, std::int64_t first, std::int64_t count) {
        copy_on_host(here + first, piece, count);
      });
}

}  // namespace staghorn
