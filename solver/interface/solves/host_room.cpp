#include "solver/interface/solves/host_room.hpp"

#include "halo/watch/error.hpp"
#include "solver/interface/solves/host_calls.hpp"

namespace staghorn {

void check_room(const staghorn_vectors& layout) {
  if (layout.memory != STAGHORN_HOST)
    throw Error(ErrorKind::unsupported, "vectors.memory", "memory of the host", "memory that is pinned or of a GPU");
  if (layout.site_stride != 0)
    throw Error(ErrorKind::unsupported, "vectors.site_stride", "0, packed vectors", layout.site_stride);
}

HostRoom::HostRoom(const HeldGauge& held, const VectorsArgument& vectors, std::optional<Parity> sites, std::size_t n,
                   staghorn_room room, void* data)
    : lattice_(held.lattice()),
      vectors_(vectors),
      sites_(sites),
      n_(n),
      bytes_each_(std::size_t(buffer_bytes(vectors.host, lattice_.local()))) {
  held.ranks().agree([&] {
    first_ = static_cast<char*>(of_host([&] { return room(data, std::int64_t(n)); }, static_cast<void*>(nullptr)));
    if (!first_) throw Error(ErrorKind::memory, "room", "memory for " + std::to_string(n) + " vectors", "NULL");
  });
}

VectorField HostRoom::read(std::size_t number) const {
  VectorField field(lattice_);
  read_vector(vectors_.host, vectors_.signs, sites_, at(number), field);
  return field;
}

void HostRoom::write(std::size_t number, const VectorField& x) {
  if (!vectors_.host.half && sites_)
    write_vector(vectors_.host, vectors_.signs, opposite(*sites_), x, at(number));  // zeros
  write_vector(vectors_.host, vectors_.signs, sites_, x, at(number));
}

}  // namespace staghorn
