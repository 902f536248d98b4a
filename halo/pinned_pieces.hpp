// Large fields travel between plain host memory and a GPU in pieces, through pinned memory. Kernels on the device read
// and write the pinned memory. While the device works on one piece, the host fills or empties the other.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "halo/buffer.hpp"
#include "halo/cuda/cuda_device.hpp"
#include "halo/watch/activity.hpp"

namespace staghorn {

class PinnedPieces {
 public:
  static constexpr std::size_t bytes_of_one = std::size_t{4} << 20;

  // Sends `items`; each `group` of them stays together. fill(piece, first, count) puts some of them into a piece. Then
  // use(piece, first, count) queues the work that reads the piece on the device. On return all work is done. Local.
  template <class Item, class Fill, class Use>
  void send(std::int64_t items, std::int64_t group, const Fill& fill, const Use& use) {
    const std::int64_t at_once = begin(items, group, sizeof(Item));
    for (std::int64_t first = 0, turn = 0; first < items; first += at_once, turn = 1 - turn) {
      const std::int64_t count = std::min(at_once, items - first);
      fill(piece<Item>(turn), first, count);
      cuda::synchronize();  // the other piece has been read
      use(piece<const Item>(turn), first, count);
      made_progress();
    }
    cuda::synchronize();
  }

  // The way back: make(piece, first, count) queues the work that writes a piece on the device. Then
  // take(piece, first, count) reads the piece on the host. Local.
  template <class Item, class Make, class Take>
  void receive(std::int64_t items, std::int64_t group, const Make& make, const Take& take) {
    const std::int64_t at_once = begin(items, group, sizeof(Item));
    const auto count = [&](std::int64_t first) { return std::min(at_once, items - first); };
    make(piece<Item>(0), std::int64_t{0}, count(0));
    for (std::int64_t first = 0, turn = 0; first < items; first += at_once, turn = 1 - turn) {
      cuda::synchronize();
      const std::int64_t next = first + at_once;
      if (next < items) make(piece<Item>(1 - turn), next, count(next));
      take(piece<const Item>(turn), first, count(first));
      made_progress();
    }
  }

 private:
  // Makes memory for two pieces, and no more than all items need. Returns the number of items in a piece.
  std::int64_t begin(std::int64_t items, std::int64_t group, std::size_t item_bytes) {
    const std::size_t bytes = std::min(std::max(bytes_of_one, group * item_bytes), items * item_bytes);
    for (Buffer& piece : pieces_)
      if (piece.bytes() < bytes) piece = Buffer(bytes, MemorySpace::pinned);
    return std::int64_t(bytes / item_bytes) / group * group;
  }
  template <class Item>
  Item* piece(std::int64_t turn) {
    return reinterpret_cast<Item*>(pieces_[turn].data());
  }

  std::array<Buffer, 2> pieces_;
};

}  // namespace staghorn
