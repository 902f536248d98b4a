// Gauges of staghorn.h: made, updated in place, asked, destroyed. And hops.
#include <staghorn.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "dirac/fields/site_hash.hpp"
#include "dirac/fields/vector_shape.hpp"
#include "halo/watch/error.hpp"
#include "solver/interface/handles.hpp"
#include "solver/interface/host_fields.hpp"
#include "solver/interface/statuses.hpp"
#include "solver/interface/structs.hpp"

namespace staghorn {

namespace {

Reconstruct reals_in_kernels(int reals) {
  return reals == 12 ? Reconstruct::row12 : reals == 8 ? Reconstruct::su3_8 : Reconstruct::none18;
}

// The links of a call, checked. Local.
staghorn_links read_links(const staghorn_links* links, const void* const* u) {
  const staghorn_links layout = read_struct(links, "links");
  check(layout);
  if (layout.memory == STAGHORN_DEVICE)
    throw Error(ErrorKind::unsupported, "links.memory", "memory of the host", "STAGHORN_DEVICE");
  links_of_host(layout, -1);
  check_pointer("u", u);
  const int pointers = layout.order == STAGHORN_QDP ? 4 : 1;
  for (int mu = 0; mu < pointers; ++mu) check_pointer("u[mu]", u[mu]);
  return layout;
}

// Whether the host vouches that the links are those of the last update.
bool is_unchanged(const HeldGauge& held, const staghorn_links& layout) {
  return layout.generation != 0 && held.gauge && held.gauge->has_links() &&
         std::memcmp(&layout, &held.links, sizeof layout) == 0;
}

// Links of a host in a field of ours, and what they ask of a gauge.
struct LinksOfCall {
  TakenLinks taken;
  Reconstruct reals;
  LinkDemand demand;
};

// Reads them into `field`. Collective.
LinksOfCall take(const Communicator& all, const staghorn_links& layout, const void* const* u, LinkField& field) {
  LinkBuffers buffers{};
  std::copy_n(u, layout.order == STAGHORN_QDP ? 4 : 1, buffers.begin());
  LinksOfCall call{take_links(all, links_of_host(layout, -1), buffers, field), reals_in_kernels(layout.reals),
                   LinkDemand::special_unitary};
  if (call.taken.unscaled) return call;
  call.demand = LinkDemand::finite;
  if (call.reals != Reconstruct::none18)
    throw Error(ErrorKind::value, "links.reals", "18 or 0 for links that carry a factor or a phase", layout.reals);
  return call;
}

void create(staghorn_context* handle, const staghorn_links* links, const void* const* u, staghorn_gauge** gauge) {
  const auto context = held_by(handle);
  const Use use(*context);
  const Communicator& all = context->context->communicator();
  auto held = std::make_shared<HeldGauge>();
  std::optional<LinkField> field;
  all.agree([&] {
    check_pointer("gauge", gauge);
    *gauge = nullptr;
    held->links = read_links(links, u);
    field.emplace(context->context->lattice());
  });
  LinksOfCall call = take(all, held->links, u, *field);
  SessionOptions options = context->context->options();
  options.boundary = call.taken.boundary;
  options.links = call.reals;
  held->context = context;
  held->signs = std::move(call.taken.signs);
  held->gauge = std::make_unique<Gauge>(*context->context, std::move(*field), options, LinkOrigin{}, call.demand);
  held->loads = 1;
  all.agree([&] { context->gauges.insert(*gauge = make_handle(std::move(held))); });
}

void update(staghorn_gauge* handle, const staghorn_links* links, const void* const* u) {
  const auto held = held_by(handle);
  const Use use(*held->context);
  const Communicator& all = held->context->context->communicator();
  staghorn_links layout{};
  bool unchanged = false;
  all.agree([&] {
    layout = read_links(links, u);
    unchanged = is_unchanged(*held, layout);
  });
  if (!all.any(!unchanged)) return;
  LinksOfCall call = take(all, layout, u, held->gauge->writable_links());
  held->links = layout;
  held->signs = std::move(call.taken.signs);
  ++held->loads;
  held->gauge->take(call.taken.boundary, call.reals, call.demand);
}

void get(staghorn_gauge* handle, staghorn_gauge_info* info) {
  const auto held = held_by(handle);
  const Use use(*held->context);
  const Communicator& all = held->context->context->communicator();
  staghorn_gauge_info made{};
  all.agree([&] {
    check_pointer("info", info);
    made.struct_size = info->struct_size;
    check_written_size(made.struct_size, first_size<staghorn_gauge_info>, "info");
    require_links(*held);
  });
  const GaugeSummary& summary = held->gauge->measured();
  const UnitarityCheck& unitarity = held->gauge->unitarity();
  made.naive = 1;
  made.plaquette[0] = summary.plaquette;
  made.plaquette[1] = summary.plaquette_space;
  made.plaquette[2] = summary.plaquette_time;
  made.link_trace[0] = summary.link_trace.real();
  made.link_trace[1] = summary.link_trace.imag();
  made.unitarity = unitarity.max_deviation;
  made.determinant = unitarity.max_determinant_deviation;
  made.hash = site_hash(all, held->gauge->links());
  made.loads = held->loads;
  std::memcpy(info, &made, std::min<std::size_t>(made.struct_size, sizeof made));
}

[[noreturn]] void refuse_improved(const char* function) {
  throw Error(ErrorKind::unsupported, std::string(function) + ": fat and long links cannot be used yet");
}

void hop(staghorn_gauge* handle, const staghorn_vectors* vectors, int target, int n, const void* const* in,
         void* const* out) {
  const auto held = held_by(handle);
  const Use use(*held->context);
  const Context& context = *held->context->context;
  staghorn_vectors layout{};
  std::vector<VectorField> field;
  context.communicator().agree([&] {
    layout = read_struct(vectors, "vectors");
    check(layout);
    if (layout.memory == STAGHORN_DEVICE)
      throw Error(ErrorKind::unsupported, "vectors.memory of a hop", "memory of the host", "STAGHORN_DEVICE");
    vectors_of_host(layout, -1);
    require_links(*held);
    check_choice("target", target, STAGHORN_FULL, STAGHORN_ODD);
    check_choice("n", n, 1, max_rhs);
    if (layout.half && target == STAGHORN_FULL)
      throw Error(ErrorKind::layout, "target", "EVEN or ODD for half vectors", "FULL");
    check_pointer("in", in);
    check_pointer("out", out);
    for (int i = 0; i < n; ++i) {
      check_pointer("in[i]", in[i]);
      check_pointer("out[i]", out[i]);
    }
    field.assign(2, VectorField(context.lattice()));
  });
  const auto parity = target == STAGHORN_FULL ? std::nullopt : std::optional(Parity(target - STAGHORN_EVEN));
  const auto source = parity ? std::optional(opposite(*parity)) : std::nullopt;
  const HostVectors host = vectors_of_host(layout, -1);
  const VectorSigns signs = signs_of_host(layout, &held->signs);
  for (int i = 0; i < n; ++i) {
    read_vector(host, signs, source, in[i], field[0]);
    plain_hop(context.communicator(), held->gauge->links(), held->gauge->options().boundary, field[1], field[0],
              parity);
    write_vector(host, signs, parity, field[1], out[i]);
  }
}

}  // namespace

}  // namespace staghorn

using namespace staghorn;

int staghorn_gauge_create(staghorn_context* context, const staghorn_links* links, const void* const u[4],
                          staghorn_gauge** gauge) {
  return guarded([&] {
    create(context, links, u, gauge);
    return int(STAGHORN_OK);
  });
}

int staghorn_gauge_create_improved(staghorn_context*, const staghorn_links*, const void* const*, const staghorn_links*,
                                   const void* const*, staghorn_gauge** gauge) {
  return guarded([&]() -> int {
    if (gauge) *gauge = nullptr;
    refuse_improved("staghorn_gauge_create_improved");
  });
}

int staghorn_gauge_create_action(staghorn_context*, const staghorn_links*, const void* const*, const staghorn_action*,
                                 staghorn_gauge** gauge) {
  return guarded([&]() -> int {
    if (gauge) *gauge = nullptr;
    refuse_improved("staghorn_gauge_create_action");
  });
}

int staghorn_gauge_update_improved(staghorn_gauge*, const staghorn_links*, const void* const*, const staghorn_links*,
                                   const void* const*) {
  return guarded([]() -> int { refuse_improved("staghorn_gauge_update_improved"); });
}

int staghorn_gauge_update(staghorn_gauge* gauge, const staghorn_links* links, const void* const u[4]) {
  return guarded([&] {
    update(gauge, links, u);
    return int(STAGHORN_OK);
  });
}

int staghorn_gauge_get(staghorn_gauge* gauge, staghorn_gauge_info* info) {
  return guarded([&] {
    get(gauge, info);
    return int(STAGHORN_OK);
  });
}

int staghorn_gauge_destroy(staghorn_gauge** gauge) {
  return guarded([&] {
    check_pointer("gauge", gauge);
    if (!*gauge) return int(STAGHORN_OK);
    const auto held = held_by(*gauge);
    const Use use(*held->context);
    held->context->gauges.erase(*gauge);
    held->gauge.reset();  // within the scope of the context
    drop_handle(*gauge);
    *gauge = nullptr;
    return int(STAGHORN_OK);
  });
}

int staghorn_hop(staghorn_gauge* gauge, const staghorn_vectors* vectors, int target, int n, const void* const* in,
                 void* const* out) {
  return guarded([&] {
    hop(gauge, vectors, target, n, in, out);
    return int(STAGHORN_OK);
  });
}
