#include "solver/interface/struct_layouts.hpp"

#include <algorithm>
#include <cstring>

#include "halo/cuda/cuda_device.hpp"
#include "halo/watch/error.hpp"
#include "solver/interface/structs.hpp"

namespace staghorn {

namespace {

// The numbers of both enums are the same.
static_assert(int(SiteOrder::lex) == STAGHORN_LEX && int(SiteOrder::cps_stag) == STAGHORN_CPS_STAG &&
              int(SiteOrder::cps_wilson) == STAGHORN_CPS_WILSON && int(SiteOrder::even_odd_x) == STAGHORN_EVEN_ODD_X &&
              int(SiteOrder::qdp) == STAGHORN_QDP && int(SiteOrder::cps_stag_block) == STAGHORN_CPS_STAG_BLOCK);
static_assert(int(HostReal::fp64) == STAGHORN_FP64 && int(HostReal::fp32) == STAGHORN_FP32);
static_assert(int(LinkPhases::none) == STAGHORN_PHASES_NONE && int(LinkPhases::cps) == STAGHORN_PHASES_CPS &&
              int(LinkPhases::milc) == STAGHORN_PHASES_MILC && int(LinkPhases::tifr) == STAGHORN_PHASES_TIFR &&
              int(LinkPhases::chroma) == STAGHORN_PHASES_CHROMA);

MemorySpace space_of(std::int32_t memory, const char* field, int cuda_device) {
  if (memory != STAGHORN_DEVICE) return MemorySpace::host;
  if (cuda_device < 0)
    throw Error(ErrorKind::argument, field, "memory of the host, for a rank of this context computes on the CPU",
                "STAGHORN_DEVICE");
  return MemorySpace::cuda;
}

// An error of a layout, whatever it says, is one of the arguments.
template <class Layout>
Layout checked(const Layout& layout) {
  try {
    check_layout(layout);
  } catch (const Error& error) {
    throw Error(ErrorKind::layout, error.what());
  }
  return layout;
}

}  // namespace

HostLinks links_of_host(const staghorn_links& links, int cuda_device, int steps) {
  HostLinks layout;
  layout.steps = steps;
  layout.space = space_of(links.memory, "links.memory", cuda_device);
  layout.order = SiteOrder(links.order);
  layout.real = HostReal(links.precision);
  layout.as_given = links.phases == STAGHORN_PHASES_AS_GIVEN;
  if (!layout.as_given) layout.phases = LinkPhases(links.phases);
  layout.boundary_in = links.boundary_in != 0;
  layout.dagger = links.dagger != 0;
  layout.site_stride = links.site_stride;
  layout.link_offset = links.link_offset;
  std::copy_n(links.theta, 4, layout.boundary.theta.begin());
  std::copy_n(links.scale, 4, layout.scale.begin());
  return checked(layout);
}

void check_memory(const char* name, const void* pointer, std::int32_t memory, int cuda_device) {
  check_pointer(name, pointer);
  if (cuda_device < 0) return;
  const cuda::PointerPlace place = cuda::place_of_pointer(pointer);
  const auto refuse = [&](const char* expected, const std::string& found) {
    throw Error(ErrorKind::argument, name, expected, found);
  };
  switch (memory) {
    case STAGHORN_DEVICE:
      if (place.kind != cuda::PointerKind::device && place.kind != cuda::PointerKind::managed)
        refuse("memory of a GPU, as STAGHORN_DEVICE says", "memory of the host");
      if (place.kind == cuda::PointerKind::device && place.device != cuda_device)
        refuse("memory of the context's GPU", "memory of GPU " + std::to_string(place.device));
      return;
    case STAGHORN_PINNED:
      if (place.kind != cuda::PointerKind::pinned && place.kind != cuda::PointerKind::managed)
        refuse("memory that CUDA has pinned, as STAGHORN_PINNED says", "other memory");
      return;
    default:
      if (place.kind == cuda::PointerKind::device)
        refuse("memory of the host, as STAGHORN_HOST says", "memory of a GPU");
  }
}

void read_written_links(const staghorn_links* links, void* const* u, const Extents& local, HostLinks& layout,
                        std::array<void*, 4>& written) {
  const staghorn_links given = read_struct(links, "links");
  check(given);
  if (given.memory == STAGHORN_DEVICE)
    throw Error(ErrorKind::unsupported, "links.memory of links that are given out", "memory of the host",
                "STAGHORN_DEVICE");
  layout = links_of_host(given, -1);
  check_pointer("u", u);
  CallMemory memory;
  for (int mu = 0; mu < buffers_of(layout.order); ++mu) {
    check_pointer("u[mu]", u[mu]);
    written[std::size_t(mu)] = u[mu];
    memory.writes("u", bytes_of(layout, local, u[mu]), mu);
  }
  memory.require_own();
}

void give_text(const std::string& text, char* json, std::size_t* bytes) {
  const std::size_t room = *bytes;
  CallMemory memory;
  memory.writes("bytes", bytes, 1);
  memory.writes("json", FieldBytes::of_array(json, room));
  memory.require_own();
  *bytes = text.size() + 1;
  if (!json) return;
  if (room < text.size() + 1)
    throw Error(ErrorKind::argument, "bytes", "room for " + std::to_string(text.size() + 1), room);
  std::memcpy(json, text.c_str(), text.size() + 1);
}

VectorsArgument::VectorsArgument(const staghorn_vectors* vectors, const char* name, int cuda_device,
                                 const VectorSigns* of_links)
    : given(read_struct(vectors, name)) {
  check(given);
  host.space = space_of(given.memory, "vectors.memory", cuda_device);
  host.order = SiteOrder(given.order);
  host.real = HostReal(given.precision);
  host.half = given.half != 0;
  host.site_stride = given.site_stride;
  host = checked(host);
  const bool as_given = given.phases == STAGHORN_PHASES_AS_GIVEN;
  if (as_given && !of_links)
    throw Error(ErrorKind::argument, "vectors.phases", "a convention, where no gauge is at hand",
                "STAGHORN_PHASES_AS_GIVEN");
  if (!as_given && given.phases != STAGHORN_PHASES_NONE)
    signs.phases = LinkPhases(given.phases);
  else if (of_links)
    signs = *of_links;
}

void check_half(const staghorn_vectors& vectors, std::optional<Parity> sites) {
  if (!vectors.half) return;
  if (!sites) throw Error(ErrorKind::layout, "vectors.half", "0 for full vectors", vectors.half);
  if (vectors.half == STAGHORN_ODD && *sites != Parity::odd)
    throw Error(ErrorKind::layout, "vectors.half", "1 for even sites", vectors.half);
}

}  // namespace staghorn
