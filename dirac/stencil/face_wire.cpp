#include "dirac/stencil/face_wire.hpp"

#include "dirac/algebra/dispatch.hpp"
#include "dirac/algebra/fixed_point.hpp"

namespace staghorn {

namespace {

// The number of a site of a face in the order of the wire.
std::size_t place_on_wire(const SiteLayout& layout, Parity parity, int face, Slot slot) {
  const Lattice& lattice = layout.lattice();
  Coordinates x{};
  layout.site(parity, slot, x);
  const int mu = face / 2, slice = face % 2 == 0 ? x[mu] : lattice.local()[mu] - 1 - x[mu];
  std::int64_t place = slice;
  for (int nu = 3; nu >= 0; --nu)
    if (nu != mu) place = place * lattice.local()[nu] + x[nu];
  return std::size_t(place / 2);  // two neighbours in the lowest direction have one site of each parity
}

// Reals k of vectors in blocks of `lanes`: as the CPU kernels have them.
template <class Stored>
struct Blocked {
  int lanes, n_rhs;
  template <class Work>
  void for_each_real(Slot slot, int rhs, const Work& work) const {
    const std::int64_t object =
        (std::int64_t{slot / lanes} * n_rhs + rhs) * vector_places<Stored> * lanes;  // in stored reals
    const int lane = slot % lanes;
    for (int k = 0; k < 6; ++k) work(k, object + std::int64_t{k} * lanes + lane);
    // The unit of a vector in fixed point: two places of int16.
    if constexpr (is_fixed_point<Stored>)
      for (int half = 0; half < 2; ++half) work(6 + half, object + 6 * std::int64_t{lanes} + 2 * lane + half);
  }
};

// Where real k of the vector number `place` of n lies on the wire.
template <class Stored>
std::int64_t offset_on_wire(std::int64_t n, std::int64_t place, int rhs, int k) {
  constexpr int words = 16 / int(sizeof(Stored));
  return rhs * vector_places<Stored> * n + SiteLayout::offset_in_words(n, place, k, vector_places<Stored>, words);
}

// Calls copy(offset in blocks, offset on the wire) for every real of a face.
template <class Stored, class Copy>
void for_each_real(const std::vector<Slot>& slots, int lanes, int n_rhs, const Copy& copy) {
  const std::int64_t n = std::int64_t(slots.size());
  const Blocked<Stored> blocks{lanes, n_rhs};
#pragma omp parallel for schedule(static) if (n * n_rhs > 4096)
  for (std::int64_t place = 0; place < n; ++place)
    for (int rhs = 0; rhs < n_rhs; ++rhs)
      blocks.for_each_real(slots[std::size_t(place)], rhs,
                           [&](int k, std::int64_t offset) { copy(offset, offset_on_wire<Stored>(n, place, rhs, k)); });
}

}  // namespace

FaceWire::FaceWire(const SiteLayout& layout, Parity parity, int depth, const FaceSites& faces)
    : lanes_(layout.lanes()), ghost_blocks_(faces.blocks) {
  const Lattice& lattice = layout.lattice();
  for (int face = 0; face < 8; ++face) {
    const std::vector<Slot>& slots = faces.slots[face];
    if (slots.empty()) continue;
    sent_[face].resize(slots.size());
    received_[face].resize(slots.size());
    for (std::size_t k = 0; k < slots.size(); ++k)
      sent_[face][place_on_wire(layout, parity, face, slots[k])] = slots[k];
    // Ghosts are in the order that the sender's part has in a layout of these lanes (NeighbourTable).
    const int sender = lattice.neighbour_rank(face / 2, face % 2 == 0 ? +1 : -1);
    const SiteLayout there(lattice.of_rank(sender), lanes_);
    const std::vector<Slot> arriving = sites_of_face(there, parity, depth, face);
    for (std::size_t k = 0; k < arriving.size(); ++k)
      received_[face][place_on_wire(there, parity, face, arriving[k])] = faces.first_block[face] * lanes_ + Slot(k);
  }
}

void FaceWire::pack(Precision precision, int n_rhs, const void* field, const FacePointers& to) const {
  with_stored(precision, field, [&]<class Stored>(const Stored* from) {
    for (int face = 0; face < 8; ++face)
      if (!sent_[face].empty()) {
        Stored* const wire = reinterpret_cast<Stored*>(to[face]);
        for_each_real<Stored>(sent_[face], lanes_, n_rhs,
                              [=](std::int64_t blocked, std::int64_t on_wire) { wire[on_wire] = from[blocked]; });
      }
  });
}

void FaceWire::unpack(Precision precision, int n_rhs, const FacePointers& from, void* ghosts) const {
  with_stored(precision, ghosts, [&]<class Stored>(Stored* to) {
    for (int face = 0; face < 8; ++face)
      if (!received_[face].empty()) {
        const Stored* const wire = reinterpret_cast<const Stored*>(from[face]);
        for_each_real<Stored>(received_[face], lanes_, n_rhs,
                              [=](std::int64_t blocked, std::int64_t on_wire) { to[blocked] = wire[on_wire]; });
      }
  });
}

std::size_t FaceWire::ghost_bytes(Precision precision, int n_rhs) const {
  return std::size_t(ghost_blocks_) * lanes_ * n_rhs * bytes_per_vector(precision);
}

std::int64_t FaceWire::bytes() const {
  std::int64_t sites = 0;
  for (int face = 0; face < 8; ++face) sites += std::int64_t(sent_[face].size() + received_[face].size());
  return sites * std::int64_t(sizeof(Slot));
}

}  // namespace staghorn
