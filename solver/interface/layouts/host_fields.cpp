#include "solver/interface/layouts/host_fields.hpp"

#include <cmath>
#include <initializer_list>

#include "halo/cuda/cuda_device.hpp"
#include "halo/watch/error.hpp"

namespace staghorn {

namespace {

constexpr std::int64_t link_reals = 18, vector_reals = 6;

std::int64_t packed_link_stride(const HostLinks& links) {
  return (by_direction(links.order) ? 1 : 4) * link_reals * bytes_of(links.real);
}

void check_finite(const char* what, const std::array<double, 4>& values) {
  for (const double value : values)
    if (!std::isfinite(value)) throw Error(what, "four finite numbers", value);
}

// Kernels read whole numbers.
void check_alignment(MemorySpace space, const char* what, std::int64_t real,
                     std::initializer_list<std::int64_t> bytes) {
  if (space != MemorySpace::cuda) return;
  for (const std::int64_t number : bytes)
    if (number % real != 0)
      throw Error(what, "multiples of " + std::to_string(real) + " bytes, a real, on a GPU", number);
}

}  // namespace

std::int64_t stride_of(const HostLinks& links) {
  return links.site_stride != 0 ? links.site_stride : packed_link_stride(links);
}

std::int64_t stride_of(const HostVectors& vectors) {
  return vectors.site_stride != 0 ? vectors.site_stride : vector_reals * bytes_of(vectors.real);
}

void check_layout(const HostLinks& links) {
  check_alignment(links.space, "site_stride and link_offset of links", bytes_of(links.real),
                  {stride_of(links), links.link_offset});
  if (links.link_offset < 0) throw Error("link_offset of links", "at least 0 bytes", links.link_offset);
  const std::int64_t needed = links.link_offset + packed_link_stride(links);
  if (stride_of(links) < needed)
    throw Error("site_stride of links", "at least " + std::to_string(needed) + " bytes, offset and links of a site",
                stride_of(links));
  check_finite("theta of links", links.boundary.theta);
  check_finite("scale of links", links.scale);
  for (const double factor : links.scale)
    if (factor == 0) throw Error("scale of links", "factors other than 0", factor);
}

void check_layout(const HostVectors& vectors) {
  const std::int64_t packed = vector_reals * bytes_of(vectors.real);
  check_alignment(vectors.space, "site_stride of vectors", bytes_of(vectors.real), {stride_of(vectors)});
  if (stride_of(vectors) < packed)
    throw Error("site_stride of vectors", "at least " + std::to_string(packed) + " bytes", stride_of(vectors));
  if (vectors.half && vectors.order == SiteOrder::lex)
    throw Error("half of vectors", "an order with the sites of a parity together", "lexicographic order");
}

std::int64_t buffer_bytes(const HostLinks& links, const Extents& local) {
  const std::int64_t places = volume(local) * (links.order == SiteOrder::cps_stag_block ? 4 : 1);
  return (places - 1) * stride_of(links) + links.link_offset + packed_link_stride(links);
}

std::int64_t buffer_bytes(const HostVectors& vectors, const Extents& local) {
  const std::int64_t sites = volume(local) / (vectors.half ? 2 : 1);
  return (sites - 1) * stride_of(vectors) + vector_reals * bytes_of(vectors.real);
}

FieldBytes bytes_of(const HostVectors& vectors, const Extents& local, std::optional<Parity> sites, const void* at) {
  const std::int64_t half = volume(local) / 2, stride = stride_of(vectors);
  FieldBytes found{reinterpret_cast<std::uintptr_t>(at), 2 * half, stride, vector_reals * bytes_of(vectors.real)};
  if (vectors.half) {
    found.runs = half;
  } else if (sites && vectors.order == SiteOrder::lex) {
    found.extents = local;
    found.parity = int(*sites);
  } else if (sites) {  // a parity lies in one half of the field
    const std::int64_t one = vector_site(vectors.order, local, {*sites == Parity::odd ? 1 : 0, 0, 0, 0});
    found.first += std::uintptr_t(one / half * half * stride);
    found.runs = half;
  }
  return found;
}

FieldBytes bytes_of(const HostLinks& links, const Extents& local, const void* at) {
  const std::int64_t runs = volume(local) * (links.order == SiteOrder::cps_stag_block ? 4 : 1);
  return {reinterpret_cast<std::uintptr_t>(at) + std::uintptr_t(links.link_offset), runs, stride_of(links),
          packed_link_stride(links)};
}

VectorPlaces places_of(const HostVectors& vectors, const Extents& local) {
  return {vectors.order, vectors.half, local, stride_of(vectors)};
}

LinkView view_of(const HostLinks& links, const Lattice& lattice) {
  LinkView view{.order = links.order,
                .local = lattice.local(),
                .global = lattice.global(),
                .stride = stride_of(links),
                .offset = links.link_offset,
                .link_bytes = link_reals * bytes_of(links.real),
                .phases = links.as_given ? LinkPhases::none : links.phases,
                .negative = {},
                .steps = links.steps,
                .transposed = transposed(links.order),
                .adjoint = links.dagger || always_adjoint(links.order)};
  for (std::size_t mu = 0; mu < 4; ++mu)
    view.negative[mu] = !links.as_given && links.boundary_in && is_odd(links.boundary.theta[mu]);
  return view;
}

const signed char* FoundSigns::in(MemorySpace space) const {
  if (space != MemorySpace::cuda) return here_.data();
  if (there_.bytes() == 0) {
    Buffer copy(here_.size(), MemorySpace::cuda);
    cuda::copy_to_device(copy.data(), here_.data(), copy.bytes());
    there_ = std::move(copy);
  }
  return reinterpret_cast<const signed char*>(there_.data());
}

bool is_odd(double theta) { return is_sign(theta) && !is_sign(theta / 2); }
bool is_sign(double theta) { return theta == std::floor(theta); }

}  // namespace staghorn
