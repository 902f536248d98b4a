// Memory for fields: one zero-filled allocation on the host, on the selected CUDA device, or pinned on the host. On the
// host it is aligned to huge pages. Large buffers lie in huge pages if the system gives them.
#pragma once

#include <cstddef>

namespace staghorn {

enum class MemorySpace { host, cuda, pinned };  // pinned: on the host; GPUs can read and write it

class Buffer {
 public:
  Buffer() = default;
  // Throws Error with the number of bytes if the system refuses. Threads touch the pages in parallel. So each page lies
  // near the thread that uses it under a static schedule. Local.
  explicit Buffer(std::size_t bytes, MemorySpace space = MemorySpace::host);
  // Someone else's memory, which must outlive the buffer.
  static Buffer view(std::byte* data, std::size_t bytes, MemorySpace space = MemorySpace::host);
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
  std::size_t mapped_ = 0;  // bytes of the mapping; 0 in another space and for a view
  bool viewed_ = false;     // the memory is someone else's
  MemorySpace space_ = MemorySpace::host;
};

}  // namespace staghorn
