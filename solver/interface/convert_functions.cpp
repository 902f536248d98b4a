// Conversions of staghorn.h from one host layout to another.
#include <staghorn.h>

#include <array>
#include <optional>

#include "halo/watch/error.hpp"
#include "solver/interface/handles.hpp"
#include "solver/interface/struct_layouts.hpp"
#include "solver/interface/structs.hpp"

using namespace staghorn;

int staghorn_convert_vectors(const staghorn_context* context, const staghorn_vectors* from, const void* in,
                             const staghorn_vectors* to, void* out) {
  return locally(context, [&](HeldContext& held) {
    const Lattice& lattice = held.context->lattice();
    const VectorsArgument source(from, "from", -1, nullptr), target(to, "to", -1, nullptr);
    const int half = source.given.half;
    if (half != target.given.half) throw Error(ErrorKind::layout, "vectors.half", "the same half on both sides", "two");
    check_pointer("in", in);
    check_pointer("out", out);
    const auto sites = half ? std::optional(Parity(half - STAGHORN_EVEN)) : std::nullopt;
    CallMemory all;
    all.reads("in", bytes_of(source.host, lattice.local(), {}, in));
    all.writes("out", bytes_of(target.host, lattice.local(), {}, out));
    all.require_own();
    convert_vector(lattice, sites, source.host, source.signs, in, target.host, target.signs, out);
  });
}

int staghorn_convert_links(const staghorn_context* context, const staghorn_links* from, const void* const in[4],
                           const staghorn_links* to, void* const out[4]) {
  return locally(context, [&](HeldContext& held) {
    const Lattice& lattice = held.context->lattice();
    const staghorn_links source = read_struct(from, "from"), target = read_struct(to, "to");
    check(source);
    check(target);
    check_pointer("in", in);
    check_pointer("out", out);
    const HostLinks from_layout = links_of_host(source, -1), to_layout = links_of_host(target, -1);
    LinkBuffers read{};
    std::array<void*, 4> written{};
    CallMemory all;
    for (std::size_t mu = 0; mu < std::size_t(buffers_of(from_layout.order)); ++mu) {
      check_pointer("in[mu]", read[mu] = in[mu]);
      all.reads("in", bytes_of(from_layout, lattice.local(), in[mu]), int(mu));
    }
    for (std::size_t mu = 0; mu < std::size_t(buffers_of(to_layout.order)); ++mu) {
      check_pointer("out[mu]", written[mu] = out[mu]);
      all.writes("out", bytes_of(to_layout, lattice.local(), out[mu]), int(mu));
    }
    all.require_own();
    convert_links(lattice, from_layout, read, to_layout, written);
  });
}
