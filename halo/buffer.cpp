#include "halo/buffer.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>

#include "halo/cuda/cuda_device.hpp"
#include "halo/pinned_pieces.hpp"
#include "halo/watch/activity.hpp"
#include "halo/watch/error.hpp"

namespace staghorn {

namespace {
constexpr std::size_t huge_page = std::size_t{2} << 20, page = std::size_t{4} << 10;

// Calls work(first, count) for consecutive ranges of bytes. The threads take the ranges in order.
template <class Work>
void for_chunks(std::size_t bytes, const Work& work) {
  constexpr std::size_t chunk = std::size_t{1} << 18;
  const std::int64_t chunks = std::int64_t((bytes + chunk - 1) / chunk);
#pragma omp parallel for schedule(static)
  for (std::int64_t k = 0; k < chunks; ++k) {
    const std::size_t first = std::size_t(k) * chunk;
    work(first, std::min(chunk, bytes - first));
    made_progress();  // the first touch of memory can be slow
  }
}

void copy_chunks(std::byte* to, const std::byte* from, std::size_t bytes) {
  for_chunks(bytes, [&](std::size_t first, std::size_t count) { std::memcpy(to + first, from + first, count); });
}

// From this many bytes on, copies between plain memory and a GPU go through pinned pieces, which all threads fill and
// empty: the driver takes one thread.
constexpr std::size_t least_in_pieces = std::size_t{32} << 20;

void send(std::byte* to, const std::byte* from, std::size_t bytes) {
  PinnedPieces pieces;
  pieces.send<std::byte>(
      std::int64_t(bytes), 1,
      [&](std::byte* piece, std::int64_t first, std::int64_t count) {
        copy_chunks(piece, from + first, std::size_t(count));
      },
      [&](const std::byte* piece, std::int64_t first, std::int64_t count) {
        cuda::queue_copy(to + first, piece, std::size_t(count));
      });
}

void receive(std::byte* to, const std::byte* from, std::size_t bytes) {
  PinnedPieces pieces;
  pieces.receive<std::byte>(
      std::int64_t(bytes), 1,
      [&](std::byte* piece, std::int64_t first, std::int64_t count) {
        cuda::queue_copy(piece, from + first, std::size_t(count));
      },
      [&](const std::byte* piece, std::int64_t first, std::int64_t count) {
        copy_chunks(to + first, piece, std::size_t(count));
      });
}

}  // namespace

Buffer::Buffer(std::size_t bytes, MemorySpace space) : bytes_(bytes), space_(space) {
  if (bytes == 0) return;
  if (space == MemorySpace::cuda) {
    data_ = static_cast<std::byte*>(cuda::allocate(bytes));
    return;
  }
  if (space == MemorySpace::pinned) {
    data_ = static_cast<std::byte*>(cuda::allocate_pinned(bytes));
    return;
  }
  mapped_ = (bytes + huge_page - 1) / huge_page * huge_page;
  // Map one page more than needed and give back what lies outside the aligned range.
  void* raw = mmap(nullptr, mapped_ + huge_page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (raw == MAP_FAILED)
    throw Error(ErrorKind::memory, "out of memory: " + std::to_string(bytes) + " bytes could not be allocated");
  const auto begin = reinterpret_cast<std::uintptr_t>(raw);
  const auto aligned = (begin + huge_page - 1) / huge_page * huge_page;
  if (aligned > begin) munmap(raw, aligned - begin);
  if (begin + huge_page > aligned) munmap(reinterpret_cast<void*>(aligned + mapped_), begin + huge_page - aligned);
  data_ = reinterpret_cast<std::byte*>(aligned);
  // This is advice: without huge pages everything works. For a small field, clearing a huge page costs too much.
  if (bytes >= huge_page / 8) madvise(data_, mapped_, MADV_HUGEPAGE);
  // The system gives zero-filled pages. Touching one byte of each is enough.
  for_chunks(bytes, [this](std::size_t first, std::size_t count) {
    for (std::size_t at = first; at < first + count; at += page) static_cast<volatile std::byte*>(data_)[at] = {};
  });
}

Buffer Buffer::view(std::byte* data, std::size_t bytes, MemorySpace space) {
  Buffer view;
  view.data_ = data;
  view.bytes_ = bytes;
  view.viewed_ = true;
  view.space_ = space;
  return view;
}

Buffer::~Buffer() {
  if (!data_ || viewed_) return;
  if (space_ == MemorySpace::cuda)
    cuda::release(data_);
  else if (space_ == MemorySpace::pinned)
    cuda::release_pinned(data_);
  else if (mapped_ > 0)
    munmap(data_, mapped_);
}

Buffer::Buffer(Buffer&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)),
      bytes_(std::exchange(other.bytes_, 0)),
      mapped_(std::exchange(other.mapped_, 0)),
      viewed_(other.viewed_),
      space_(other.space_) {}

Buffer& Buffer::operator=(Buffer&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(bytes_, other.bytes_);
  std::swap(mapped_, other.mapped_);
  std::swap(viewed_, other.viewed_);
  std::swap(space_, other.space_);
  return *this;
}

void Buffer::set_zero() {
  if (bytes_ == 0) return;
  if (space_ == MemorySpace::cuda) return cuda::set_zero(data_, bytes_);
  for_chunks(bytes_, [this](std::size_t first, std::size_t count) { std::memset(data_ + first, 0, count); });
}

void Buffer::copy_from(const Buffer& other) {
  if (other.bytes_ != bytes_) throw Error("copy between buffers", bytes_, other.bytes_);
  if (bytes_ == 0) return;
  if (space_ == MemorySpace::cuda && other.space_ == MemorySpace::cuda)
    return cuda::copy_on_device(data_, other.data_, bytes_);
  const MemorySpace plain = space_ == MemorySpace::cuda ? other.space_ : space_;
  const bool in_pieces = bytes_ >= least_in_pieces && plain == MemorySpace::host;
  if (space_ == MemorySpace::cuda)
    return in_pieces ? send(data_, other.data_, bytes_) : cuda::copy_to_device(data_, other.data_, bytes_);
  if (other.space_ == MemorySpace::cuda)
    return in_pieces ? receive(data_, other.data_, bytes_) : cuda::copy_to_host(data_, other.data_, bytes_);
  copy_chunks(data_, other.data_, bytes_);
}

}  // namespace staghorn
