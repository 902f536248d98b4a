// Memory for fields: one allocation, zero-filled, on the host (aligned to huge pages and, unless small, backed by them
// where the system gives them), on the selected CUDA device, or pinned on the host.
#pragma once

#include <cstddef>

namespace staghorn {

enum class MemorySpace { host, cuda, pinned };  // pinned: on the host, reachable for devices

class Buffer {
 public:
  Buffer() = default;
  // Throws Error with the number of bytes when the system refuses. Pages are touched in parallel, so that each lies
  // near the thread that a static schedule will give it to. Local.
  explicit Buffer(std::size_t bytes, MemorySpace space = MemorySpace::host);
  // Someone else's memory on the host, which must outlive the buffer.
  static Buffer view(std::byte* data, std::size_t bytes);
  ~Buffer();
  Buffer(Buffer&& other) noexcept;
  Buffer& operator=(Buffer&& other) noexcept;

  std::size_t bytes() const { return bytes_; }
  MemorySpace space() const { return space_; }
  std::byte* data() { return data_; }
  const std::byte* data() const { return data_; }
  void set_zero();
  void copy_from(const Buffer& other);  // of the same size, in any two spaces

 private:
  std::byte* data_ = nullptr;
  std::size_t bytes_ = 0;
  std::size_t mapped_ = 0;  // 0 in another space, and of a view
  MemorySpace space_ = MemorySpace::host;
};

}  // namespace staghorn
