#include "solver/interface/milc/link_hash.hpp"

#include <omp.h>
#include <staghorn.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <initializer_list>

#include "halo/watch/stopwatch.hpp"

namespace staghorn::milc {

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

// `bytes`: a multiple of 8.
FieldHash hash_field(const void* field, std::size_t bytes, std::size_t bytes_of_real, int threads) {
  const auto* from = static_cast<const unsigned char*>(field);
  const std::size_t words = bytes / 8, chunks = (words + chunk_words - 1) / chunk_words;
  Word low = 0, high = 0, bits = 0;
#pragma omp parallel for num_threads(threads) schedule(dynamic) reduction(+ : low, high) reduction(| : bits)
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

}  // namespace

LinkHash hash_links(const GivenLinks& links, int threads) {
  constexpr std::size_t reals_of_site = 4 * 18;
  const std::size_t bytes_of_real = links.precision == STAGHORN_FP32 ? sizeof(float) : sizeof(double);
  const std::size_t bytes = links.sites * reals_of_site * bytes_of_real;
  return {links.precision, hash_field(links.fat, bytes, bytes_of_real, threads),
          hash_field(links.lng, bytes, bytes_of_real, threads)};
}

LinkHash HashBeside::make(int threads) {
  const Stopwatch making;
  const LinkHash hash = hash_links(links_, threads);
  seconds_ = making.seconds();
  return hash;
}

void HashBeside::begin() {
  if (hash_.valid()) return;
  const int threads = std::max(1, omp_get_max_threads() - 1);
  hash_ = std::async(std::launch::async | std::launch::deferred, [this, threads] { return make(threads); });
}

bool HashBeside::is_made() const {
  return hash_.valid() && hash_.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
}

const LinkHash& HashBeside::get() {
  if (!hash_.valid()) hash_ = std::async(std::launch::deferred, [this] { return make(omp_get_max_threads()); });
  return hash_.get();
}

}  // namespace staghorn::milc
