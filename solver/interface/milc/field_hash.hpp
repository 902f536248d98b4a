// Fields that a host changes without a word are known again by a hash, which is read at the speed of memory.
#pragma once

#include <cstddef>
#include <cstdint>

namespace staghorn::milc {

// Of the bytes of a field. Two fields that differ have the same hash with a probability of 2^-128.
struct FieldHash {
  std::uint64_t low = 0, high = 0;
  bool zero = true;  // every number is zero, of either sign
  friend bool operator==(const FieldHash&, const FieldHash&) = default;
};

// `bytes`: a multiple of 8. `threads` of OpenMP make the hash, which does not depend on their number. Local.
FieldHash hash_field(const void* field, std::size_t bytes, std::size_t bytes_of_real, int threads);

}  // namespace staghorn::milc
