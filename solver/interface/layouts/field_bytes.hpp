// Which bytes of memory the fields and arrays of a call occupy, and whether an argument that the call writes shares
// bytes with another one. Knows addresses only: the memory may be that of a GPU. Local.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "halo/watch/error.hpp"

namespace staghorn {

// `runs` runs of `bytes` bytes each, `stride` bytes from start to start. The bytes between runs belong to others.
struct FieldBytes {
  std::uintptr_t first = 0;
  std::int64_t runs = 1, stride = 0, bytes = 0;
  // Runs are the sites of a lexicographic field of these extents, and only sites of this parity count; -1: all count.
  std::array<int, 4> extents{};
  int parity = -1;

  static FieldBytes of_array(const void* at, std::size_t bytes) {
    return {reinterpret_cast<std::uintptr_t>(at), 1, std::int64_t(bytes), std::int64_t(bytes)};
  }
  bool counts(std::int64_t run) const {
    if (parity < 0) return true;
    std::int64_t sum = 0;
    for (const int extent : extents) {
      sum += run % extent;
      run /= extent;
    }
    return sum % 2 == parity;
  }
  // Bytes from the first one to the end of the last run; nothing where no memory is that large.
  std::optional<std::int64_t> span() const {
    std::int64_t starts = 0, all = 0;
    if (__builtin_mul_overflow(runs - 1, stride, &starts) || __builtin_add_overflow(starts, bytes, &all)) return {};
    return all;
  }
};

// Whether some byte belongs to both. Runs are visited one by one only where the fields interlock.
inline bool share_bytes(const FieldBytes& a, const FieldBytes& b) {
  const auto span_a = a.span(), span_b = b.span();
  if (a.bytes <= 0 || b.bytes <= 0 || !span_a || !span_b) return false;
  if (a.first <= b.first ? b.first - a.first >= std::uintptr_t(*span_a) : a.first - b.first >= std::uintptr_t(*span_b))
    return false;
  const auto ahead = std::int64_t(b.first - a.first);  // less than a span, so it fits
  if (a.stride == b.stride) {                          // members of one struct, or the same field
    const std::int64_t within = (ahead % a.stride + a.stride) % a.stride;
    if (within >= a.bytes && within + b.bytes <= a.stride) return false;
  }
  const auto floor_of = [&](std::int64_t distance) {
    return distance >= 0 ? distance / b.stride : -((b.stride - 1 - distance) / b.stride);
  };
  for (std::int64_t run = 0; run < a.runs; ++run) {
    if (!a.counts(run)) continue;
    const std::int64_t at = run * a.stride - ahead;  // from the start of b
    const std::int64_t end = std::min(b.runs - 1, floor_of(at + a.bytes - 1));
    for (std::int64_t other = std::max<std::int64_t>(0, floor_of(at - b.bytes) + 1); other <= end; ++other)
      if (b.counts(other)) return true;
  }
  return false;
}

// The memory of a call's arguments: what is written belongs to one argument alone.
class CallMemory {
 public:
  // `index` of one of several, as in "x[2]"; -1: the argument has one piece of memory.
  void reads(const char* name, const FieldBytes& bytes, int index = -1) { add(name, bytes, index, false); }
  void writes(const char* name, const FieldBytes& bytes, int index = -1) { add(name, bytes, index, true); }

  // An array of n numbers or pointers.
  template <class Element>
  void reads(const char* name, const Element* first, std::int64_t n) {
    reads(name, FieldBytes::of_array(first, std::size_t(n) * sizeof *first));
  }
  template <class Element>
  void writes(const char* name, const Element* first, std::int64_t n) {
    writes(name, FieldBytes::of_array(first, std::size_t(n) * sizeof *first));
  }

  // Throws Error for an argument that is written and shares bytes with another.
  void require_own() const {
    for (std::size_t i = 0; i < pieces_.size(); ++i)
      for (std::size_t j = 0; pieces_[i].written && j < pieces_.size(); ++j)
        if ((j < i || !pieces_[j].written) && share_bytes(pieces_[i].bytes, pieces_[j].bytes))
          throw Error(ErrorKind::argument, pieces_[i].text(), "memory of its own, as the call writes it",
                      "bytes of " + pieces_[j].text());
  }

 private:
  struct Piece {
    const char* name;
    int index;
    bool written;
    FieldBytes bytes;

    std::string text() const { return index < 0 ? name : name + ('[' + std::to_string(index)) + ']'; }
  };
  void add(const char* name, const FieldBytes& bytes, int index, bool written) {
    if (bytes.first != 0) pieces_.push_back({name, index, written, bytes});
  }

  std::vector<Piece> pieces_;
};

}  // namespace staghorn
