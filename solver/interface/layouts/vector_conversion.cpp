#include "solver/interface/layouts/vector_conversion.hpp"

#include <cstring>

#include "halo/watch/error.hpp"

namespace staghorn {

namespace {

using Site = ColorVector<double>;

template <class Real>
Site load(const std::byte* place, double factor) {
  Real reals[6];
  std::memcpy(reals, place, sizeof reals);
  Site v;
  for (int c = 0; c < 3; ++c) v.c[c] = {factor * double(reals[2 * c]), factor * double(reals[2 * c + 1])};
  return v;
}

template <class Real>
void store(std::byte* place, const Site& v, double factor) {
  Real reals[6];
  for (int c = 0; c < 3; ++c) {
    reals[2 * c] = Real(factor * v.c[c].re);
    reals[2 * c + 1] = Real(factor * v.c[c].im);
  }
  std::memcpy(place, reals, sizeof reals);
}

// Where sites lie in the buffer of a host, in bytes from its start.
class Places {
 public:
  Places(const HostVectors& layout, const Lattice& lattice, std::optional<Parity> sites)
      : layout_(layout), local_(lattice.local()), stride_(stride_of(layout)) {
    check_layout(layout);
    if (layout.half && !sites) throw Error("half of vectors", "a system on even or on odd sites", "the full system");
  }
  std::int64_t of(const Coordinates& x) const {
    const std::int64_t site =
        layout_.half ? half_vector_site(layout_.order, local_, x) : vector_site(layout_.order, local_, x);
    return site * stride_;
  }

 private:
  HostVectors layout_;
  Extents local_;
  std::int64_t stride_;
};

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
  const Places places(layout, lattice, sites);
  const auto* bytes = static_cast<const std::byte*>(host);
  for_sites(lattice, sites, [&](std::int64_t site, const Coordinates& x) {
    out[site] = load(layout.real, bytes + places.of(x), 1 / signs.at(site, lattice.to_global(x)));
  });
}

void write_vector(const HostVectors& layout, const VectorSigns& signs, std::optional<Parity> sites,
                  const VectorField& in, void* host) {
  const Lattice& lattice = in.lattice();
  const Places places(layout, lattice, sites);
  auto* bytes = static_cast<std::byte*>(host);
  for_sites(lattice, sites, [&](std::int64_t site, const Coordinates& x) {
    store(layout.real, bytes + places.of(x), in[site], signs.at(site, lattice.to_global(x)));
  });
}

void convert_vector(const Lattice& lattice, std::optional<Parity> sites, const HostVectors& from_layout,
                    const VectorSigns& from_signs, const void* from, const HostVectors& to_layout,
                    const VectorSigns& to_signs, void* to) {
  const Places from_places(from_layout, lattice, sites), to_places(to_layout, lattice, sites);
  const auto* read = static_cast<const std::byte*>(from);
  auto* written = static_cast<std::byte*>(to);
  for_sites(lattice, sites, [&](std::int64_t site, const Coordinates& x) {
    const Coordinates global = lattice.to_global(x);
    const Site v = load(from_layout.real, read + from_places.of(x), 1 / from_signs.at(site, global));
    store(to_layout.real, written + to_places.of(x), v, to_signs.at(site, global));
  });
}

}  // namespace staghorn
