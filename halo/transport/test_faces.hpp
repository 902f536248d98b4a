// Faces to test an exchange with. Their words depend on sender, face and round. So a ghost is right only if every byte
// came from the right rank in the right round.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "halo/buffer.hpp"
#include "halo/lattice.hpp"
#include "halo/transport/face_exchange.hpp"

namespace staghorn {

// For exchanges among the ranks of `lattice` with these face_bytes and `space`, one after the other. All functions are
// local.
class TestFaces {
 public:
  TestFaces(const Lattice& lattice, const std::array<std::size_t, 8>& face_bytes, MemorySpace space);

  // Packs the faces of `round` for the coming start() of `exchange`.
  void pack(const FaceExchange& exchange, std::uint64_t round);
  // Packs the faces of the last pack() again. It costs as much as a copy from memory of `space`.
  void pack_again(const FaceExchange& exchange) const;
  // What is wrong with the ghosts after finish(); "" if nothing is.
  std::string fault(const FaceExchange& exchange, std::uint64_t round);

 private:
  void make(int face, int sender, std::uint64_t round);  // into made_

  const Lattice& lattice_;
  std::array<std::size_t, 8> bytes_, offset_{};
  Buffer faces_, made_, arrived_;  // all that is sent, in `space`; one face, on the host
};

}  // namespace staghorn
