#include "solver/interface/link_calls.hpp"

#include <algorithm>
#include <cstring>

#include "halo/cuda/cuda_device.hpp"
#include "halo/watch/error.hpp"
#include "solver/interface/alike.hpp"
#include "solver/interface/host_fields.hpp"
#include "solver/interface/layouts/pair_conversion.hpp"
#include "solver/interface/structs.hpp"
#include "solver/interface/words.hpp"

namespace staghorn {

namespace {

// Links of one argument, checked.
struct HostArgument {
  staghorn_links links{};
  HostLinks layout{};
  LinkBuffers buffers{};
};

// What ranks must say alike of their links. How these lie in memory is a matter of each rank.
void add(Asked& asked, const std::string& name, const staghorn_links& links) {
  asked.add(name + ".phases", links.phases);
  asked.add(name + ".boundary_in", links.boundary_in);
  asked.add(name + ".reals", links.reals);
  asked.add(name + ".theta", links.theta);
  asked.add(name + ".scale", links.scale);
  asked.add(name + ".coefficient", links.coefficient);
}

// In a job with GPUs on some ranks only, links of all ranks are the host's. Local.
HostArgument read(Asked& asked, const LinksArgument& argument, LinkKind kind, const HeldGauge& held) {
  const Context& context = *held.context->context;
  HostArgument host;
  host.links = read_struct(argument.given, argument.name);
  if (held.boundary) std::copy(held.boundary->theta.begin(), held.boundary->theta.end(), host.links.theta);
  check(host.links);
  add(asked, argument.name, host.links);
  check_reals("links.reals", host.links.reals, kind);
  if (kind != LinkKind::naik && host.links.coefficient != 0)
    throw Error(ErrorKind::argument, "links.coefficient", "0, except of long links", host.links.coefficient);
  host.layout = links_of_host(host.links, context.field_device(), kind == LinkKind::naik ? 3 : 1);
  check_pointer(argument.name, argument.u);
  const int pointers = host.links.order == STAGHORN_QDP ? 4 : 1;
  for (int mu = 0; mu < pointers; ++mu) {
    check_memory((std::string(argument.name) + "[mu]").c_str(), argument.u[mu], host.links.memory,
                 context.cuda_device());
    host.buffers[std::size_t(mu)] = argument.u[mu];
  }
  return host;
}

// Whether the host vouches that these are the links of the last update.
bool is_unchanged(const staghorn_links& now, const staghorn_links& before) {
  return now.generation != 0 && std::memcmp(&now, &before, sizeof now) == 0;
}

const Communicator& ranks(const HeldGauge& held) { return held.context->context->communicator(); }

std::string phases_text(const HostLinks& layout) { return layout.as_given ? "as given" : to_string(layout.phases); }

// Where links are written to. Phases are searched for, and fat links are made, on the host. Thin links of the host go
// to the GPU as they lie if certificates run there, and if there is room. Collective.
MemorySpace space_for(const HeldGauge& held, const HostLinks& layout, bool improved) {
  if (layout.as_given || improved || layout.space == MemorySpace::cuda)
    return layout.as_given || improved ? MemorySpace::host : MemorySpace::cuda;
  bool goes = held.gauge->bench().certifies_on_gpu();
  if (goes) {
    constexpr double spared = 1.1;
    const std::int64_t bytes = bytes_to_convert_there(layout, held.context->context->lattice().local());
    const GaugeLinks& links = held.gauge->links();
    const std::int64_t lacking = links.as_they_came().near.bytes() - links.bytes(MemorySpace::cuda);
    goes = bytes > 0 && spared * double(bytes + lacking) < double(cuda::free_bytes());
  }
  return ranks(held).any(!goes) ? MemorySpace::host : MemorySpace::cuda;
}

// Links that carry a factor or a phase are used as they are.
LinkDemand demand_of(const TakenLinks& taken, Reconstruct form) {
  if (taken.unscaled) return LinkDemand::special_unitary;
  if (form != Reconstruct::none18)
    throw Error(ErrorKind::value, "links.reals", "18 or 0 for links that carry a factor or a phase",
                reals_per_link(form));
  return LinkDemand::finite;
}

// How links of a struct are stored: 0 stands for what words say.
Reconstruct form_or(const staghorn_links& links, Reconstruct by_words) {
  return links.reals == 0 ? by_words : form_of(links.reals);
}

}  // namespace

bool load_links(HeldGauge& held, const LinksArgument& thin) {
  const bool improved = held.action.improved();
  HostArgument host;
  bool unchanged = false;
  agree_alike(ranks(held), "thin links of a gauge", [&](Asked& asked) {
    asked.add("gauge", held.number);
    host = read(asked, thin, improved ? LinkKind::fat : LinkKind::thin, held);
    unchanged = !held.long_links && held.gauge->links().are_there() && is_unchanged(host.links, held.links);
    if (improved) require_fit(held.context->context->lattice(), Stencil::improved);
  });
  if (!ranks(held).any(!unchanged)) return false;
  const MemorySpace space = space_for(held, host.layout, improved);
  LinkField* room = nullptr;
  ranks(held).agree([&] {
    if (host.layout.space == MemorySpace::cuda) held.await_host();
    room = &held.gauge->writable_links(space);
  });
  TakenLinks taken = take_links(ranks(held), host.layout, host.buffers, *room);
  LinksTaken links{.boundary = taken.boundary,
                   .reals = improved ? held.long_reals : form_or(host.links, held.asked.links),
                   .demand = demand_of(taken, form_or(host.links, held.asked.links)),
                   .quarks = held.action};
  if (improved && links.demand != LinkDemand::special_unitary)
    throw Error(ErrorKind::value, "action", "thin links in SU(3), of which fat and long ones are made",
                "links that carry a factor or a phase");
  held.links = host.links;
  held.long_links.reset();
  held.signs = std::move(taken.signs);
  held.gauge->take(links);
  return true;
}

bool load_pair(HeldGauge& held, const LinksArgument& fat, const LinksArgument& naik) {
  HostArgument of_fat, of_long;
  bool unchanged = false;
  agree_alike(ranks(held), "fat and long links of a gauge", [&](Asked& asked) {
    asked.add("gauge", held.number);
    of_fat = read(asked, fat, LinkKind::thin, held);  // thin ones where long links are zero
    of_long = read(asked, naik, LinkKind::naik, held);
    if (of_fat.layout.space == MemorySpace::cuda || of_long.layout.space == MemorySpace::cuda) held.await_host();
    unchanged = held.long_links && held.gauge->links().are_there() && is_unchanged(of_fat.links, held.links) &&
                is_unchanged(of_long.links, *held.long_links);
  });
  if (!ranks(held).any(!unchanged)) return false;
  Gauge& gauge = *held.gauge;
  LinkField &fat_links = gauge.writable_links(), &long_links = gauge.writable_naik_links();
  TakenPair pair = take_link_pair(ranks(held), of_fat.layout, of_fat.buffers, of_long.layout, of_long.buffers,
                                  fat_links, long_links);
  LinksTaken links{.boundary = pair.taken.boundary};
  if (pair.has_long) {
    ranks(held).agree([&] { check_reals("links.reals", of_fat.links.reals, LinkKind::fat); });
    links.reals = form_or(of_long.links, held.asked.naik_links);
    links.quarks.in_memory = true;
    links.naik_sign = pair.long_sign;
    if (of_long.links.coefficient != 0) links.naik_scale = of_long.links.coefficient;
    links.phases_in_links = phases_text(of_fat.layout);
  } else {
    links.reals = form_or(of_fat.links, held.asked.links);
    links.demand = demand_of(pair.taken, links.reals);
  }
  held.links = of_fat.links;
  held.long_links = of_long.links;
  held.signs = std::move(pair.taken.signs);
  gauge.take(links);
  return true;
}

void set_action(HeldGauge& held, const staghorn_action* given) {
  agree_alike(ranks(held), "an action of a new gauge", [&](Asked& asked) {
    const staghorn_action action = read_struct(given, "action");
    check(action);
    asked.add("action.quarks", action.quarks);
    asked.add("action.unitarize", action.unitarize);
    asked.add("action.long_reals", action.long_reals);
    asked.add("action.u0", action.u0);
    asked.add("action.naik_epsilon", action.naik_epsilon);
    held.action.action = Action(action.quarks);
    if (held.action.action == Action::asqtad) held.action.u0 = action.u0;
    if (held.action.action == Action::hisq) {
      held.action.naik_epsilon = action.naik_epsilon;
      held.action.unitarize = Unitarize(action.unitarize);
    }
    held.long_reals = form_of(action.long_reals);
  });
}

}  // namespace staghorn
