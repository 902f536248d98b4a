#include "dirac/kernels/experiments/bit_flips.hpp"

#include <charconv>
#include <sstream>

#include "halo/cuda/cuda_device.hpp"
#include "halo/named_choice.hpp"

namespace staghorn {

namespace {

// splitmix64 [Steele, Lea & Flood 2014]: a random number for each question.
class Draw {
 public:
  explicit Draw(std::uint64_t seed) : state_(seed) {}
  std::uint64_t operator()() {
    state_ += 0x9e3779b97f4a7c15ull;
    std::uint64_t z = state_;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ z >> 27) * 0x94d049bb133111ebull;
    return z ^ z >> 31;
  }

 private:
  std::uint64_t state_;
};

void flip_bit(std::span<std::byte> bytes, MemorySpace space, std::uint64_t bit) {
  std::byte* const at = &bytes[bit / 8 % bytes.size()];
  std::byte value{};
  if (space == MemorySpace::cuda)
    cuda::copy_to_host(&value, at, 1);
  else
    value = *at;
  value ^= std::byte(1 << bit % 8);
  if (space == MemorySpace::cuda)
    cuda::copy_to_device(at, &value, 1);
  else
    *at = value;
}

// Kernels only read these: a fault does not ask.
std::span<std::byte> writable(const void* data, std::int64_t bytes) {
  return {static_cast<std::byte*>(const_cast<void*>(data)), std::size_t(bytes)};
}

template <class Number>
bool reads_as(const std::string& text, Number& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() && number >= 0;
}

}  // namespace

KernelMemory::Bytes packed_links(const HopView& view) {
  KernelMemory::Bytes links;
  const auto& [precision, n_rhs, blocks, lanes, last] = view.vectors;
  for (const LinkSetView& set : {view.near, view.naik})
    for (const void* of_parity : {set.here, set.there})
      if (of_parity)
        links.push_back(
            writable(of_parity, 4 * blocks * lanes * reals_per_link(set.reconstruct) * bytes_per_real(precision)));
  return links;
}

KernelMemory::Bytes vectors_of(const VectorShape& shape, Precision precision,
                               std::initializer_list<const void*> vectors) {
  KernelMemory::Bytes bytes;
  for (const void* vector : vectors)
    if (vector)
      bytes.push_back(writable(vector, shape.blocks * shape.lanes * shape.n_rhs * bytes_per_vector(precision)));
  return bytes;
}

BitFlips::BitFlips(const std::string& text) {
  std::istringstream words(text + ",");
  for (std::string word; std::getline(words, word, ',');) flips_.push_back(parse(word));
}

BitFlips::Flip BitFlips::parse(const std::string& text) {
  static constexpr NamedChoice<What, 4> names{
      "inject", {{{What::link, "link"}, {What::vector, "vector"}, {What::halo, "halo"}, {What::sum, "sum"}}}};
  std::istringstream parts(text);
  std::string what, call, seed = "0";
  std::getline(parts, what, ':');
  if (!std::getline(parts, call, ':'))
    throw Error("inject", "link, vector, halo or sum with a number of calls, as vector:40", "'" + text + "'");
  std::getline(parts, seed);
  Flip flip{names.parse(what), 0, 0, text};
  if (!reads_as(call, flip.call) || !reads_as(seed, flip.seed))
    throw Error("inject", "whole numbers behind " + what, "'" + text + "'");
  return flip;
}

void BitFlips::strike(const KernelMemory& memory, int rank, int n_ranks) {
  const long calls_before = calls_++;
  for (Flip& flip : flips_) {
    if (flip.happened || calls_before < flip.call) continue;
    Draw draw(flip.seed);
    if (int(draw() % std::uint64_t(n_ranks)) != rank) continue;
    const std::uint64_t which = draw(), bit = draw();
    if (flip.what == What::sum) {
      if (memory.sums.empty()) continue;
      memory.sums[which % memory.sums.size()].total ^= __int128(1) << bit % 127;
    } else {
      const KernelMemory::Bytes& hit = flip.what == What::link     ? memory.links
                                       : flip.what == What::vector ? memory.vectors
                                                                   : memory.ghosts;
      if (hit.empty()) continue;
      flip_bit(hit[which % hit.size()], memory.space, bit);
    }
    flip.happened = true;
  }
}

std::vector<std::string> BitFlips::struck(const Communicator& communicator) const {
  std::vector<std::string> texts;
  for (const Flip& flip : flips_)
    if (communicator.any(flip.happened)) texts.push_back(flip.text);
  return texts;
}

}  // namespace staghorn
