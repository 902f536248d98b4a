#include "solver/interface/milc/field_hash.hpp"

#include <cstring>

namespace staghorn::milc {

namespace {

using Word = std::uint64_t;

constexpr int lanes = 16;                               // multiplications that do not wait for each other
constexpr std::size_t chunk_words = 16384 * lanes / 8;  // of one thread at a time
constexpr Word factor = 0x9e3779b97f4a7c15u, other_factor = 0xc2b2ae3d27d4eb4fu;  // odd, bits without a pattern

constexpr Word rotated(Word word, int by) { return word << by | word >> (64 - by); }

// Every bit of the word reaches every bit of the result [Murmur3's finaliser, Appleby].
constexpr Word mixed(Word word) {
  word = (word ^ word >> 33) * 0xff51afd7ed558ccdu;
  word = (word ^ word >> 33) * 0xc4ceb9fe1a85ec53u;
  return word ^ word >> 33;
}

struct Chunk {
  Word low = 0, high = 0, bits = 0;
};

// Each lane goes state = rot31((state ^ word) factor). That is one to one in the word and in the state: a single word
// that changes always changes the state. The rotation brings the highest bits, the signs, to where the factor spreads
// them. `bits`: all bits that are set anywhere.
Chunk hash_chunk(const unsigned char* from, std::size_t words) {
  const auto step = [](Word state, Word word) { return rotated((state ^ word) * factor, 31); };
  Word state[lanes], bits[lanes] = {};
  for (int lane = 0; lane < lanes; ++lane) state[lane] = mixed(Word(lane) + 1);
  std::size_t word = 0;
  for (; word + lanes <= words; word += lanes) {
    Word read[lanes];
    std::memcpy(read, from + 8 * word, sizeof read);
    for (int lane = 0; lane < lanes; ++lane) {
      state[lane] = step(state[lane], read[lane]);
      bits[lane] |= read[lane];
    }
  }
  for (; word < words; ++word) {
    Word read;
    std::memcpy(&read, from + 8 * word, sizeof read);
    state[word % lanes] = step(state[word % lanes], read);
    bits[0] |= read;
  }
  Chunk chunk;
  for (int lane = 0; lane < lanes; ++lane) {
    chunk.low = mixed(chunk.low ^ state[lane]);
    chunk.high = mixed(rotated(chunk.high, 23) ^ state[lane] * other_factor);
    chunk.bits |= bits[lane];
  }
  return chunk;
}

}  // namespace

FieldHash hash_field(const void* field, std::size_t bytes, std::size_t bytes_of_real) {
  const auto* from = static_cast<const unsigned char*>(field);
  const std::size_t words = bytes / 8, chunks = (words + chunk_words - 1) / chunk_words;
  Word low = 0, high = 0, bits = 0;
#pragma omp parallel for schedule(static) reduction(+ : low, high) reduction(| : bits)
  for (std::size_t k = 0; k < chunks; ++k) {
    const std::size_t first = k * chunk_words, count = words - first < chunk_words ? words - first : chunk_words;
    const Chunk chunk = hash_chunk(from + 8 * first, count);
    low += mixed(chunk.low + (k + 1) * factor);  // a sum in any order, of terms that know their places
    high += mixed(chunk.high + (k + 1) * other_factor);
    bits |= chunk.bits;
  }
  constexpr Word signs_of_doubles = 0x8000000000000000u, signs_of_floats = 0x8000000080000000u;
  return {low, high, (bits & ~(bytes_of_real == 4 ? signs_of_floats : signs_of_doubles)) == 0};
}

}  // namespace staghorn::milc
