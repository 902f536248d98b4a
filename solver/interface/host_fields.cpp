#include "solver/interface/host_fields.hpp"

#include <cstddef>
#include <cstring>
#include <string>

#include "halo/watch/error.hpp"

namespace staghorn {

namespace {

[[noreturn]] void refuse(const char* field, const char* supported) {
  throw Error(ErrorKind::unsupported, field, supported, "something else");
}

std::int64_t real_bytes(std::int32_t precision) { return precision == STAGHORN_FP64 ? 8 : 4; }

std::int64_t stride_of(std::int64_t given, std::int64_t packed, std::int64_t offset, const char* name) {
  if (given == 0) return packed + offset;
  if (given < packed + offset || given % 4 != 0)
    throw Error(ErrorKind::layout, name, "0 or at least " + std::to_string(packed + offset) + " bytes, a multiple of 4",
                given);
  return given;
}

void load(std::int32_t precision, const std::byte* from, double* to, int reals) {
  if (precision == STAGHORN_FP64) {
    std::memcpy(to, from, std::size_t(reals) * sizeof(double));
    return;
  }
  for (int k = 0; k < reals; ++k) {
    float real;
    std::memcpy(&real, from + 4 * k, sizeof real);
    to[k] = real;
  }
}

void store(std::int32_t precision, const double* from, std::byte* to, int reals) {
  if (precision == STAGHORN_FP64) {
    std::memcpy(to, from, std::size_t(reals) * sizeof(double));
    return;
  }
  for (int k = 0; k < reals; ++k) {
    const float real = float(from[k]);
    std::memcpy(to + 4 * k, &real, sizeof real);
  }
}

std::int64_t link_stride(const staghorn_links& layout) {
  return stride_of(layout.site_stride, 72 * real_bytes(layout.precision), layout.link_offset, "links.site_stride");
}
std::int64_t vector_stride(const staghorn_vectors& layout) {
  return stride_of(layout.site_stride, 6 * real_bytes(layout.precision), 0, "vectors.site_stride");
}

void check_memory(std::int32_t memory, const char* field) {
  if (memory == STAGHORN_DEVICE) refuse(field, "memory of the host");
}

}  // namespace

void check_layout(const Lattice&, int, const staghorn_links& links) {
  check_memory(links.memory, "links.memory");
  if (links.order != STAGHORN_LEX) refuse("links.order", "STAGHORN_LEX");
  if (links.phases != STAGHORN_PHASES_NONE) refuse("links.phases", "STAGHORN_PHASES_NONE");
  if (links.boundary_in || links.dagger) refuse("links.boundary_in and links.dagger", "0");
  for (const double scale : links.scale)
    if (scale != 1) refuse("links.scale", "1");
  link_stride(links);
}

void check_layout(const Lattice&, int, const staghorn_vectors& vectors) {
  check_memory(vectors.memory, "vectors.memory");
  if (vectors.order != STAGHORN_LEX) refuse("vectors.order", "STAGHORN_LEX");
  if (vectors.phases != STAGHORN_PHASES_NONE && vectors.phases != STAGHORN_PHASES_CPS)
    refuse("vectors.phases", "STAGHORN_PHASES_NONE or STAGHORN_PHASES_CPS");
  if (vectors.half) refuse("vectors.half", "0");
  vector_stride(vectors);
}

void take_links(const staghorn_links& layout, const void* const u[4], LinkField& links) {
  const auto* from = static_cast<const std::byte*>(u[0]) + layout.link_offset;
  const std::int64_t stride = link_stride(layout);
#pragma omp parallel for schedule(static)
  for (std::int64_t site = 0; site < links.size(); ++site)
    load(layout.precision, from + site * stride, reinterpret_cast<double*>(&links[site]), 72);
}

void give_links(const staghorn_links& layout, const LinkField& links, void* const u[4]) {
  auto* to = static_cast<std::byte*>(u[0]) + layout.link_offset;
  const std::int64_t stride = link_stride(layout);
#pragma omp parallel for schedule(static)
  for (std::int64_t site = 0; site < links.size(); ++site)
    store(layout.precision, reinterpret_cast<const double*>(&links[site]), to + site * stride, 72);
}

namespace {

template <class Work>
void for_sites(const Lattice& lattice, std::optional<Parity> sites, const Work& work) {
#pragma omp parallel for schedule(static)
  for (std::int64_t site = 0; site < lattice.local_volume(); ++site)
    if (!sites || Lattice::parity_of(lattice.site_coordinates(site)) == *sites) work(site);
}

}  // namespace

void take_vector(const staghorn_vectors& layout, std::optional<Parity> sites, const void* in, VectorField& vector) {
  const std::int64_t stride = vector_stride(layout);
  for_sites(vector.lattice(), sites, [&](std::int64_t site) {
    load(layout.precision, static_cast<const std::byte*>(in) + site * stride, reinterpret_cast<double*>(&vector[site]),
         6);
  });
}

void give_vector(const staghorn_vectors& layout, std::optional<Parity> sites, const VectorField& vector, void* out) {
  const std::int64_t stride = vector_stride(layout);
  for_sites(vector.lattice(), sites, [&](std::int64_t site) {
    store(layout.precision, reinterpret_cast<const double*>(&vector[site]),
          static_cast<std::byte*>(out) + site * stride, 6);
  });
}

}  // namespace staghorn
