// Conversions of staghorn.h from one host layout to another.
#include <staghorn.h>

#include <algorithm>
#include <array>
#include <optional>

#include "halo/watch/error.hpp"
#include "solver/interface/handles.hpp"
#include "solver/interface/host_fields.hpp"
#include "solver/interface/statuses.hpp"
#include "solver/interface/structs.hpp"

using namespace staghorn;

int staghorn_convert_vectors(const staghorn_context* context, const staghorn_vectors* from, const void* in,
                             const staghorn_vectors* to, void* out) {
  return guarded([&] {
    const auto held = held_by(context);
    const Use use(*held);
    const Context& place = *held->context;
    const staghorn_vectors source = read_struct(from, "from"), target = read_struct(to, "to");
    check(source);
    check(target);
    if (source.half != target.half)
      throw Error(ErrorKind::layout, "vectors.half", "the same half on both sides", "two");
    check_pointer("in", in);
    check_pointer("out", out);
    const auto sites = source.half ? std::optional(Parity(source.half - STAGHORN_EVEN)) : std::nullopt;
    const HostVectors from_layout = vectors_of_host(source, -1), to_layout = vectors_of_host(target, -1);
    CallMemory all;
    all.reads("in", bytes_of(from_layout, place.lattice().local(), {}, in));
    all.writes("out", bytes_of(to_layout, place.lattice().local(), {}, out));
    require_own_memory(all);
    convert_vector(place.lattice(), sites, from_layout, signs_of_host(source, nullptr), in, to_layout,
                   signs_of_host(target, nullptr), out);
    return int(STAGHORN_OK);
  });
}

int staghorn_convert_links(const staghorn_context* context, const staghorn_links* from, const void* const in[4],
                           const staghorn_links* to, void* const out[4]) {
  return guarded([&] {
    const auto held = held_by(context);
    const Use use(*held);
    const Context& place = *held->context;
    const staghorn_links source = read_struct(from, "from"), target = read_struct(to, "to");
    check(source);
    check(target);
    check_pointer("in", in);
    check_pointer("out", out);
    for (int mu = 0; mu < 4; ++mu) {
      if (mu == 0 || source.order == STAGHORN_QDP) check_pointer("in[mu]", in[mu]);
      if (mu == 0 || target.order == STAGHORN_QDP) check_pointer("out[mu]", out[mu]);
    }
    LinkBuffers read{};
    std::array<void*, 4> written{};
    std::copy_n(in, source.order == STAGHORN_QDP ? 4 : 1, read.begin());
    std::copy_n(out, target.order == STAGHORN_QDP ? 4 : 1, written.begin());
    const HostLinks from_layout = links_of_host(source, -1), to_layout = links_of_host(target, -1);
    CallMemory all;
    for (int mu = 0; mu < buffers_of(from_layout.order); ++mu)
      all.reads("in", bytes_of(from_layout, place.lattice().local(), in[mu]), mu);
    for (int mu = 0; mu < buffers_of(to_layout.order); ++mu)
      all.writes("out", bytes_of(to_layout, place.lattice().local(), out[mu]), mu);
    require_own_memory(all);
    convert_links(place.lattice(), from_layout, read, to_layout, written);
    return int(STAGHORN_OK);
  });
}
