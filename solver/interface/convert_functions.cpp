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
      all.reads("in", bytes_of(from_layout, lattice.local(), in[mu]), mu);
    for (int mu = 0; mu < buffers_of(to_layout.order); ++mu)
      all.writes("out", bytes_of(to_layout, lattice.local(), out[mu]), mu);
    all.require_own();
    convert_links(lattice, from_layout, read, to_layout, written);
  });
}
