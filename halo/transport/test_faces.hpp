// Faces filled with words that tell sender, face and round, so that an exchange can be tested: what arrives can only be
// right if it came from the right rank, in the right round, to the last byte.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "halo/buffer.hpp"
#include "halo/lattice.hpp"
#include "halo/transport/face_exchange.hpp"

namespace staghorn {

// Local, like all of its functions; for exchanges among the ranks of `lattice` with these face_bytes and `space`, which
// run one after the other.
class TestFaces {
 public:
  TestFaces(const Lattice& lattice, const std::array<std::size_t, 8>& face_bytes, MemorySpace space);

  // The faces of `round`, packed for the coming start() of `exchange`.
  void pack(const FaceExchange& exchange, std::uint64_t round);
  // The same for the round of the last pack(); costs what a copy from memory of `space` costs.
  void pack_again(const FaceExchange& exchange) const;
  // What is wrong with the ghosts after finish(), or nothing.
  std::string fault(const FaceExchange& exchange, std::uint64_t round);

 private:
  void make(int face, int sender, std::uint64_t round);  // into made_

  const Lattice& lattice_;
  std::array<std::size_t, 8> bytes_, offset_{};
  Buffer faces_, made_, arrived_;  // all that is sent, in `space`; one face, on the host
};

}  // namespace staghorn
