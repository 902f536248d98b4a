#include "halo/transport/test_faces.hpp"

#include <algorithm>
#include <cstring>

#include "halo/cuda/cuda_device.hpp"

namespace staghorn {

namespace {

using Word = std::uint64_t;
constexpr std::size_t word = sizeof(Word);

void copy(std::byte* to, const std::byte* from, std::size_t bytes, MemorySpace space) {
  if (space == MemorySpace::host)
    std::memcpy(to, from, bytes);
  else
    cuda::copy(to, from, bytes);
}

}  // namespace

TestFaces::TestFaces(const Lattice& lattice, const std::array<std::size_t, 8>& face_bytes, MemorySpace space)
    : lattice_(lattice), bytes_(face_bytes) {
  std::size_t total = 0;
  for (int face = 0; face < 8; ++face) {
    offset_[face] = total;
    total += bytes_[face];
  }
  const std::size_t largest = *std::max_element(bytes_.begin(), bytes_.end());
  faces_ = Buffer(total, space);
  made_ = Buffer((largest + word - 1) / word * word);
  arrived_ = Buffer(largest);
}

void TestFaces::make(int face, int sender, std::uint64_t round) {
  // Weyl sequences with odd steps: words of a face differ, and so do faces, senders and rounds.
  const Word first = (Word(sender) * 8 + Word(face)) * 0x9e3779b97f4a7c15u + round * 0xbf58476d1ce4e5b9u;
  Word* words = reinterpret_cast<Word*>(made_.data());
  const std::size_t n = (bytes_[face] + word - 1) / word;
  for (std::size_t i = 0; i < n; ++i) words[i] = first + i * 0x94d049bb133111ebu;
}

void TestFaces::pack(const FaceExchange& exchange, std::uint64_t round) {
  for (int face = 0; face < 8; ++face) {
    if (bytes_[face] == 0) continue;
    make(face, lattice_.rank(), round);
    copy(faces_.data() + offset_[face], made_.data(), bytes_[face], faces_.space());
  }
  pack_again(exchange);
}

void TestFaces::pack_again(const FaceExchange& exchange) const {
  const FacePointers places = exchange.outgoing();
  for (int face = 0; face < 8; ++face)
    if (bytes_[face] > 0) copy(places[face], faces_.data() + offset_[face], bytes_[face], faces_.space());
}

std::string TestFaces::fault(const FaceExchange& exchange, std::uint64_t round) {
  const FacePointers places = exchange.incoming();
  for (int face = 0; face < 8; ++face) {
    if (bytes_[face] == 0) continue;
    const int sender = lattice_.neighbour_rank(face / 2, face % 2 == 0 ? +1 : -1);
    make(face, sender, round);
    copy(arrived_.data(), places[face], bytes_[face], faces_.space());
    const std::byte* arrived = arrived_.data();
    if (std::memcmp(arrived, made_.data(), bytes_[face]) == 0) continue;
    const std::byte* wrong = std::mismatch(arrived, arrived + bytes_[face], made_.data()).first;
    return "face " + std::to_string(face) + " of rank " + std::to_string(lattice_.rank()) + " from rank " +
           std::to_string(sender) + ": byte " + std::to_string(wrong - arrived) + " of " +
           std::to_string(bytes_[face]) + " is wrong in round " + std::to_string(round);
  }
  return {};
}

}  // namespace staghorn
