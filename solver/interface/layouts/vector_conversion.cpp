#include "solver/interface/layouts/vector_conversion.hpp"

#include "halo/watch/error.hpp"
#include "solver/interface/layouts/cuda_layouts.hpp"
#include "solver/interface/layouts/host_numbers.hpp"

namespace staghorn {

namespace {

// Where sites lie in the buffer of a host, in bytes from its start. Throws where the layout makes no sense.
VectorPlaces checked_places(const HostVectors& layout, const Lattice& lattice, std::optional<Parity> sites) {
  check_layout(layout);
  if (layout.half && !sites) throw Error("half of vectors", "a system on even or on odd sites", "the full system");
  return places_of(layout, lattice.local());
}

// Calls visit(site, x) on `sites`.
template <class Visit>
void for_sites(const Lattice& lattice, std::optional<Parity> sites, const Visit& visit) {
  for_all_sites(lattice, [&](std::int64_t site, const Coordinates& x) {
    if (!sites || Lattice::parity_of(x) == *sites) visit(site, x);
  });
}

}  // namespace

void read_vector(const HostVectors& layout, const VectorSigns& signs, std::optional<Parity> sites, const void* host,
                 VectorField& out) {
  const Lattice& lattice = out.lattice();
  const VectorPlaces places = checked_places(layout, lattice, sites);
  if (out.space() == MemorySpace::cuda) return cuda_read_vector(layout, signs, sites, host, out);
  const SiteSigns sign = signs.view();
  const auto* bytes = static_cast<const std::byte*>(host);
  for_sites(lattice, sites, [&](std::int64_t site, const Coordinates& x) {
    out[site] = load<ColorVector<double>>(layout.real, bytes + places.of(x), 1 / sign.at(site, lattice.to_global(x)));
  });
}

void write_vector(const HostVectors& layout, const VectorSigns& signs, std::optional<Parity> sites,
                  const VectorField& in, void* host) {
  const Lattice& lattice = in.lattice();
  const VectorPlaces places = checked_places(layout, lattice, sites);
  if (in.space() == MemorySpace::cuda) return cuda_write_vector(layout, signs, sites, in, host);
  const SiteSigns sign = signs.view();
  auto* bytes = static_cast<std::byte*>(host);
  for_sites(lattice, sites, [&](std::int64_t site, const Coordinates& x) {
    store(layout.real, bytes + places.of(x), in[site], sign.at(site, lattice.to_global(x)));
  });
}

void convert_vector(const Lattice& lattice, std::optional<Parity> sites, const HostVectors& from_layout,
                    const VectorSigns& from_signs, const void* from, const HostVectors& to_layout,
                    const VectorSigns& to_signs, void* to) {
  VectorField plain(lattice);
  read_vector(from_layout, from_signs, sites, from, plain);
  write_vector(to_layout, to_signs, sites, plain, to);
}

#ifndef STAGHORN_CUDA
namespace {
[[noreturn]] void refuse() { throw Error(ErrorKind::device, "this build of Staghorn converts no fields on GPUs"); }
}  // namespace

void cuda_read_vector(const HostVectors&, const VectorSigns&, std::optional<Parity>, const void*, VectorField&) {
  refuse();
}
void cuda_write_vector(const HostVectors&, const VectorSigns&, std::optional<Parity>, const VectorField&, void*) {
  refuse();
}
void cuda_read_links(const HostLinks&, const std::array<const void*, 4>&, LinkField&) { refuse(); }
#endif

}  // namespace staghorn
