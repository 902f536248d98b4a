// A hash of the bytes of a field, which is read at the speed of memory: fields that a host changes without a word are
// known again. Local.
#pragma once

#include <cstddef>
#include <cstdint>

#include "solver/interface/layouts/field_bytes.hpp"

namespace staghorn {

// Two fields that differ have the same hash with a probability of 2^-128.
struct ByteHash {
  std::uint64_t low = 0, high = 0;
  bool zero = true;  // every number is zero, of either sign
  friend bool operator==(const ByteHash&, const ByteHash&) = default;
};

// Of all runs of a field in the memory of the host, whose bytes are a multiple of 8, and of numbers of `bytes_of_real`,
// 4 or 8. By so many threads of OpenMP, on whose number it does not depend.
ByteHash hash_bytes(const FieldBytes& field, std::size_t bytes_of_real, int threads);

}  // namespace staghorn
