#include "solver/interface/layouts/staged_vectors.hpp"

#include "solver/interface/layouts/site_order.hpp"

namespace staghorn {

namespace {

struct ByteRange {
  std::int64_t first, count;
};

// Where the sites lie in a buffer of the host; nothing where other bytes lie among them.
std::optional<ByteRange> range_of_sites(const HostVectors& layout, const Extents& local, std::optional<Parity> sites) {
  HostVectors packed = layout;
  packed.site_stride = 0;
  if (stride_of(layout) != stride_of(packed)) return std::nullopt;
  const std::int64_t all = buffer_bytes(layout, local);
  if (layout.half || !sites) return ByteRange{0, all};
  if (layout.order == SiteOrder::lex) return std::nullopt;
  const Coordinates one = {*sites == Parity::odd ? 1 : 0, 0, 0, 0};
  const bool second = vector_site(layout.order, local, one) >= volume(local) / 2;
  return ByteRange{second ? all / 2 : 0, all / 2};
}

// The same layout on the GPU.
HostVectors there(HostVectors layout) {
  layout.space = MemorySpace::cuda;
  return layout;
}

}  // namespace

bool can_be_staged(const HostVectors& layout, const Extents& local, bool parities) {
  return range_of_sites(layout, local, parities ? std::optional(Parity::even) : std::nullopt).has_value();
}

void StagedVectors::read(const HostVectors& layout, const VectorSigns& signs, std::optional<Parity> sites,
                         const void* host, VectorField& out) {
  if (out.space() == layout.space) return read_vector(layout, signs, sites, host, out);
  const ByteRange range = range_of_sites(layout, out.lattice().local(), sites).value();
  std::byte* const buffer = bytes_.room(buffer_bytes(layout, out.lattice().local()));
  bytes_.send(buffer + range.first, static_cast<const std::byte*>(host) + range.first, range.count);
  read_vector(there(layout), signs, sites, buffer, out);
}

void StagedVectors::write(const HostVectors& layout, const VectorSigns& signs, std::optional<Parity> sites,
                          const VectorField& in, void* host) {
  if (in.space() == layout.space) return write_vector(layout, signs, sites, in, host);
  const ByteRange range = range_of_sites(layout, in.lattice().local(), sites).value();
  std::byte* const buffer = bytes_.room(buffer_bytes(layout, in.lattice().local()));
  write_vector(there(layout), signs, sites, in, buffer);
  bytes_.receive(static_cast<std::byte*>(host) + range.first, buffer + range.first, range.count);
}

}  // namespace staghorn
