#include "solver/interface/solves/host_room.hpp"

#include "halo/watch/arithmetic.hpp"
#include "halo/watch/error.hpp"

namespace staghorn {

void check_room(const staghorn_vectors& layout) {
  if (layout.memory != STAGHORN_HOST)
    throw Error(ErrorKind::unsupported, "vectors.memory", "memory of the host", "memory that is pinned or of a GPU");
  if (layout.site_stride != 0)
    throw Error(ErrorKind::unsupported, "vectors.site_stride", "0, packed vectors", layout.site_stride);
}

HostRoom::HostRoom(const HeldGauge& held, const SolveArguments& arguments, std::size_t n, staghorn_room room,
                   void* data)
    : lattice_(held.context->context->lattice()),
      layout_(arguments.host),
      signs_(arguments.signs),
      sites_(arguments.sites()),
      n_(n),
      bytes_each_(std::size_t(lattice_.local_volume()) / (layout_.half ? 2 : 1) * 6 *
                  std::size_t(bytes_of(layout_.real))) {
  held.context->context->communicator().agree([&] {
    try {
      const HostArithmetic arithmetic;
      first_ = static_cast<char*>(room(data, std::int64_t(n)));
    } catch (...) {  // nothing of a host in C++ passes
    }
    if (!first_) throw Error(ErrorKind::memory, "room", "memory for " + std::to_string(n) + " vectors", "NULL");
  });
}

std::vector<VectorField> HostRoom::read() const {
  std::vector<VectorField> fields;
  for (std::size_t i = 0; i < n_; ++i) read_vector(layout_, signs_, sites_, at(i), fields.emplace_back(lattice_));
  return fields;
}

void HostRoom::write(std::size_t number, const VectorField& x) {
  if (!layout_.half && sites_) write_vector(layout_, signs_, opposite(*sites_), x, at(number));  // zeros
  write_vector(layout_, signs_, sites_, x, at(number));
}

}  // namespace staghorn
