// The one format in which faces travel between ranks that lay out their vectors differently: a CPU beside a GPU, or
// CPUs with vector registers of different widths. It is the format in which GPUs pack faces and read ghosts.
//
// A face is one block of n sites of the sending parity (SiteLayout::one_block), in words of 16 bytes; right-hand sides
// follow each other. Its sites are in order: slice by slice, the outermost first, and within a slice across mu by the
// checkerboard index of the other coordinates, the lowest direction fastest (dirac/kernels/cuda/cuda_sites.cuh).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "dirac/algebra/precision.hpp"
#include "dirac/stencil/neighbour_table.hpp"
#include "halo/transport/face_pointers.hpp"

namespace staghorn {

class FaceWire {
 public:
  // For vectors on the CPU: `faces` are those of `parity`, as face_sites(layout, parity, depth) lists them. Local.
  FaceWire(const SiteLayout& layout, Parity parity, int depth, const FaceSites& faces);

  // Copies the face sites of a field on the CPU to the places `to`, one for each face that travels. As vectors are
  // stored: nothing is rounded. Local.
  void pack(Precision precision, int n_rhs, const void* field, const FacePointers& to) const;
  // Copies faces that have arrived into the ghost buffer of the CPU kernels, of ghost_bytes(). Local.
  void unpack(Precision precision, int n_rhs, const FacePointers& from, void* ghosts) const;

  std::size_t ghost_bytes(Precision precision, int n_rhs) const;
  std::int64_t bytes() const;  // of the order of sites

 private:
  int lanes_;
  std::int32_t ghost_blocks_;
  std::array<std::vector<Slot>, 8> sent_;      // by face: where the field has the sites, in the order of the wire
  std::array<std::vector<Slot>, 8> received_;  // where the ghost buffer has them
};

}  // namespace staghorn
