#include "solver/interface/layouts/vector_conversion.hpp"

#include <cstring>

#include "halo/watch/error.hpp"
#include "solver/interface/layouts/cuda_layouts.hpp"

namespace staghorn {

namespace {

using Site = ColorVector<double>;

template <class Real>
Site load(const std::byte* place, double factor) {
  Real reals[6]{};
  std::memcpy(reals, place, sizeof reals);
  Site v{};
  for (int c = 0; c < 3; ++c) v.c[c] = {factor * double(reals[2 * c]), factor * double(reals[2 * c + 1])};
  return v;
}

template <class Real>
void store(std::byte* place, const Site& v, double factor) {
  Real reals[6]{};
  for (int c = 0; c < 3; ++c) {
    reals[2 * c] = Real(factor * v.c[c].re);
    reals[2 * c + 1] = Real(factor * v.c[c].im);
  }
  std::memcpy(place, reals, sizeof reals);
}

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

Site load(HostReal real, const std::byte* place, double factor) {
  return real == HostReal::fp64 ? load<double>(place, factor) : load<float>(place, factor);
}

void store(HostReal real, std::byte* place, const Site& v, double factor) {
  real == HostReal::fp64 ? store<double>(place, v, factor) : store<float>(place, v, factor);
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
    out[site] = load(layout.real, bytes + places.of(x), 1 / sign.at(site, lattice.to_global(x)));
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
  const VectorPlaces from_places = checked_places(from_layout, lattice, sites),
                     to_places = checked_places(to_layout, lattice, sites);
  const SiteSigns from_sign = from_signs.view(), to_sign = to_signs.view();
  const auto* read = static_cast<const std::byte*>(from);
  auto* written = static_cast<std::byte*>(to);
  for_sites(lattice, sites, [&](std::int64_t site, const Coordinates& x) {
    const Coordinates global = lattice.to_global(x);
    const Site v = load(from_layout.real, read + from_places.of(x), 1 / from_sign.at(site, global));
    store(to_layout.real, written + to_places.of(x), v, to_sign.at(site, global));
  });
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
