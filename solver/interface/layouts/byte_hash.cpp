#include "solver/interface/layouts/byte_hash.hpp"

#include <omp.h>

#include <algorithm>
#include <cstring>
#include <initializer_list>

namespace staghorn {

namespace {

using Word = std::uint64_t;

constexpr std::size_t chunk_words = 32768;                                        // of one thread at a time
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

// Each of four lanes goes state = rot31((state ^ word) factor). That is one to one in the word and in the state: a
// single word that changes always changes the state. The rotation brings the highest bits, the signs, to where the
// factor spreads them. Four lanes: as many multiplications as do not wait for each other. `bits`: all that are set
// anywhere.
Chunk hash_chunk(const unsigned char* from, std::size_t words) {
  const auto step = [](Word state, Word word) { return rotated((state ^ word) * factor, 31); };
  const auto word_at = [from](std::size_t k) {
    Word word{};
    std::memcpy(&word, from + 8 * k, sizeof word);
    return word;
  };
  Word a = mixed(1), b = mixed(2), c = mixed(3), d = mixed(4), bits = 0;
  std::size_t k = 0;
  for (; k + 4 <= words; k += 4) {
    const Word first = word_at(k), second = word_at(k + 1), third = word_at(k + 2), fourth = word_at(k + 3);
    a = step(a, first);
    b = step(b, second);
    c = step(c, third);
    d = step(d, fourth);
    bits |= (first | second) | (third | fourth);
  }
  for (; k < words; ++k) {
    a = step(a, word_at(k));
    bits |= word_at(k);
  }
  Chunk chunk{0, 0, bits};
  for (const Word state : {a, b, c, d}) {
    chunk.low = mixed(chunk.low ^ state);
    chunk.high = mixed(rotated(chunk.high, 23) ^ state * other_factor);
  }
  return chunk;
}

}  // namespace

ByteHash hash_bytes(const FieldBytes& field, std::size_t bytes_of_real, int threads) {
  // Runs without gaps are one.
  const bool packed = field.runs <= 1 || field.stride == field.bytes;
  const std::size_t runs = packed ? 1 : std::size_t(field.runs), stride = std::size_t(field.stride);
  const std::size_t words = std::size_t(packed ? field.runs * field.bytes : field.bytes) / 8;
  const std::size_t chunks = (words + chunk_words - 1) / chunk_words;
  const auto* from = reinterpret_cast<const unsigned char*>(field.first);
  Word low = 0, high = 0, bits = 0;
#pragma omp parallel for num_threads(threads) schedule(dynamic, packed ? 1 : 64) reduction(+ : low, high) \
    reduction(| : bits)
  for (std::size_t k = 0; k < runs * chunks; ++k) {
    const std::size_t run = k / chunks, first = k % chunks * chunk_words;
    const Chunk chunk = hash_chunk(from + run * stride + 8 * first, std::min(words - first, chunk_words));
    low += mixed(chunk.low + (k + 1) * factor);  // a sum in any order, of terms that know their places
    high += mixed(chunk.high + (k + 1) * other_factor);
    bits |= chunk.bits;
  }
  constexpr Word signs_of_doubles = 0x8000000000000000u, signs_of_floats = 0x8000000080000000u;
  return {low, high, (bits & ~(bytes_of_real == 4 ? signs_of_floats : signs_of_doubles)) == 0};
}

}  // namespace staghorn
