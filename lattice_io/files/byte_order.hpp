// Words and real numbers as files hold them: either byte order, fp32 or fp64. Local, no allocation.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "dirac/algebra/precision.hpp"

namespace staghorn {

constexpr bool host_is_big_endian = std::endian::native == std::endian::big;

constexpr std::uint16_t reversed(std::uint16_t word) { return __builtin_bswap16(word); }
constexpr std::uint32_t reversed(std::uint32_t word) { return __builtin_bswap32(word); }
constexpr std::uint64_t reversed(std::uint64_t word) { return __builtin_bswap64(word); }

// The unsigned integer stored at `from` (any alignment).
template <class Word>
Word load_word(const std::byte* from, bool big_endian) {
  Word word{};
  std::memcpy(&word, from, sizeof word);
  return big_endian == host_is_big_endian ? word : reversed(word);
}

template <class Word>
void store_word(std::byte* to, Word word, bool big_endian) {
  if (big_endian != host_is_big_endian) word = reversed(word);
  std::memcpy(to, &word, sizeof word);
}

// `n` reals of a file as doubles, exactly.
inline void decode_reals(const std::byte* from, std::int64_t n, Precision precision, bool big_endian, double* to) {
  if (precision == Precision::fp64)
    for (std::int64_t i = 0; i < n; ++i)
      to[i] = std::bit_cast<double>(load_word<std::uint64_t>(from + 8 * i, big_endian));
  else
    for (std::int64_t i = 0; i < n; ++i)
      to[i] = std::bit_cast<float>(load_word<std::uint32_t>(from + 4 * i, big_endian));
}

// `n` doubles as reals of a file, rounded to nearest.
inline void encode_reals(const double* from, std::int64_t n, Precision precision, bool big_endian, std::byte* to) {
  if (precision == Precision::fp64)
    for (std::int64_t i = 0; i < n; ++i) store_word(to + 8 * i, std::bit_cast<std::uint64_t>(from[i]), big_endian);
  else
    for (std::int64_t i = 0; i < n; ++i)
      store_word(to + 4 * i, std::bit_cast<std::uint32_t>(float(from[i])), big_endian);
}

}  // namespace staghorn
