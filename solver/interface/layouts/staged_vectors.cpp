#include "solver/interface/layouts/staged_vectors.hpp"

#include <algorithm>
#include <cstring>

#include "halo/cuda/cuda_device.hpp"
#include "solver/interface/layouts/site_order.hpp"

namespace staghorn {

namespace {

// All threads, a few pages each.
void copy_on_host(std::byte* to, const std::byte* from, std::int64_t bytes) {
  constexpr std::int64_t of_thread = std::int64_t{1} << 17;
#pragma omp parallel for schedule(static)
  for (std::int64_t first = 0; first < bytes; first += of_thread)
    std::memcpy(to + first, from + first, std::size_t(std::min(of_thread, bytes - first)));
}

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

std::byte* StagedVectors::place(std::int64_t bytes) {
  if (there_.bytes() < std::size_t(bytes)) there_ = Buffer(std::size_t(bytes), MemorySpace::cuda);
  return there_.data();
}

void StagedVectors::read(const HostVectors& layout, const VectorSigns& signs, std::optional<Parity> sites,
                         const void* host, VectorField& out) {
  if (out.space() == layout.space) return read_vector(layout, signs, sites, host, out);
  const Extents& local = out.lattice().local();
  const ByteRange range = range_of_sites(layout, local, sites).value();
  std::byte* const buffer = place(buffer_bytes(layout, local));
  const auto* const from = static_cast<const std::byte*>(host) + range.first;
  pieces_.send<std::byte>(
      range.count, 1,
      [&](std::byte* piece, std::int64_t first, std::int64_t count) { copy_on_host(piece, from + first, count); },
      [&](const std::byte* piece, std::int64_t first, std::int64_t count) {
        cuda::queue_copy(buffer + range.first + first, piece, std::size_t(count));
      });
  read_vector(there(layout), signs, sites, buffer, out);
}

void StagedVectors::write(const HostVectors& layout, const VectorSigns& signs, std::optional<Parity> sites,
                          const VectorField& in, void* host) {
  if (in.space() == layout.space) return write_vector(layout, signs, sites, in, host);
  const Extents& local = in.lattice().local();
  const ByteRange range = range_of_sites(layout, local, sites).value();
  std::byte* const buffer = place(buffer_bytes(layout, local));
  write_vector(there(layout), signs, sites, in, buffer);
  auto* const to = static_cast<std::byte*>(host) + range.first;
  pieces_.receive<std::byte>(
      range.count, 1,
      [&](std::byte* piece, std::int64_t first, std::int64_t count) {
        cuda::queue_copy(piece, buffer + range.first + first, std::size_t(count));
      },
      [&](const std::byte* piece, std::int64_t first, std::int64_t count) { copy_on_host(to + first, piece, count); });
}

}  // namespace staghorn
