#include "solver/interface/link_calls.hpp"

#include <omp.h>

#include <algorithm>
#include <cstring>

#include "dirac/gauge/gauge_observables.hpp"
#include "dirac/gauge/improved_links.hpp"
#include "halo/cuda/cuda_device.hpp"
#include "halo/watch/error.hpp"
#include "solver/interface/alike.hpp"
#include "solver/interface/struct_layouts.hpp"
#include "solver/interface/structs.hpp"
#include "solver/interface/words.hpp"

namespace staghorn {

namespace {

// Links of one argument, checked.
struct HostArgument {
  staghorn_links links{};
  HostLinks layout{};
  LinkBuffers buffers{};
  std::array<ByteHash, 4> bytes{};  // of each buffer, where the host asks for a look at them
};

// What ranks must say alike of their links. How these lie in memory is a matter of each rank.
void add(Asked& asked, const std::string& name, const staghorn_links& links) {
  asked.add(name + ".phases", links.phases);
  asked.add(name + ".boundary_in", links.boundary_in);
  asked.add(name + ".reals", links.reals);
  asked.add(name + ".theta", std::span<const double>(links.theta));
  asked.add(name + ".scale", std::span<const double>(links.scale));
  asked.add(name + ".coefficient", links.coefficient);
}

// In a job with GPUs on some ranks only, links of all ranks are the host's. Local.
HostArgument read(Asked& asked, const LinksArgument& argument, LinkKind kind, const Context& context,
                  const std::optional<Boundary>& boundary = {}) {
  HostArgument host;
  host.links = read_struct(argument.given, argument.name);
  if (boundary) std::copy(boundary->theta.begin(), boundary->theta.end(), host.links.theta);
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

// The bytes of links whose generation is their content. Local.
void look_at_bytes(HostArgument& host, const char* name, const Extents& local) {
  if (host.links.generation != STAGHORN_GENERATION_BY_CONTENT) return;
  if (host.layout.space == MemorySpace::cuda)
    throw Error(ErrorKind::unsupported, std::string(name) + ".generation", "a number, for links in memory of a GPU",
                "STAGHORN_GENERATION_BY_CONTENT");
  for (int mu = 0; mu < buffers_of(host.layout.order); ++mu)
    host.bytes[std::size_t(mu)] = hash_bytes(bytes_of(host.layout, local, host.buffers[std::size_t(mu)]),
                                             std::size_t(bytes_of(host.layout.real)), omp_get_max_threads());
}

// Whether the host vouches that these are the links of the last update, or their bytes say so.
bool is_unchanged(const HostArgument& now, const LinksSeen& before) {
  return now.links.generation != 0 && std::memcmp(&now.links, &before.links, sizeof now.links) == 0 &&
         now.bytes == before.bytes;
}

// Where links are written to. Phases are searched for, and fat links are made, on the host. Thin links of the host go
// to the GPU as they lie if certificates run there, and if there is room. Collective.
MemorySpace space_for(const HeldGauge& held, const HostLinks& layout, bool improved) {
  if (layout.as_given || improved || layout.space == MemorySpace::cuda)
    return layout.as_given || improved ? MemorySpace::host : MemorySpace::cuda;
  bool goes = held.gauge->bench().certifies_on_gpu();
  if (goes) {
    constexpr double spared = 1.1;
    const std::int64_t bytes = bytes_to_convert_there(layout, held.lattice().local());
    const GaugeLinks& links = held.gauge->links();
    const std::int64_t lacking = links.as_they_came().near.bytes() - links.bytes(MemorySpace::cuda);
    goes = bytes > 0 && spared * double(bytes + lacking) < double(cuda::free_bytes());
  }
  return held.ranks().any(!goes) ? MemorySpace::host : MemorySpace::cuda;
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

// Thin links, of which the action of the gauge may make others.
LinksTaken take_thin(HeldGauge& held, const HostArgument& host) {
  const bool improved = held.action.improved();
  const MemorySpace space = space_for(held, host.layout, improved);
  LinkField* room = nullptr;
  held.ranks().agree([&] { room = &held.gauge->writable_links(space); });
  TakenLinks taken = take_links(held.ranks(), host.layout, host.buffers, *room);
  const Reconstruct form = form_or(host.links, held.asked.links);
  const LinkDemand demand = demand_of(taken, form);
  if (improved && demand != LinkDemand::special_unitary)
    throw Error(ErrorKind::value, "action", "thin links in SU(3), of which fat and long ones are made",
                "links that carry a factor or a phase");
  held.signs = std::move(taken.signs);
  return {
      .boundary = taken.boundary, .reals = improved ? held.long_reals : form, .demand = demand, .quarks = held.action};
}

// Fat links with Naik links beside them; where these are zero, links of naive quarks.
LinksTaken take_pair(HeldGauge& held, const HostArgument& fat, const HostArgument& naik) {
  Gauge& gauge = *held.gauge;
  LinkField &fat_links = gauge.writable_links(), &naik_links = gauge.writable_naik_links();
  TakenLinks pair =
      take_link_pair(held.ranks(), fat.layout, fat.buffers, naik.layout, naik.buffers, fat_links, naik_links);
  LinksTaken links{.boundary = pair.boundary};
  if (pair.has_long) {
    held.ranks().agree([&] { check_reals("links.reals", fat.links.reals, LinkKind::fat); });
    links.reals = form_or(naik.links, held.asked.naik_links);
    links.quarks.in_memory = true;
    links.naik_sign = pair.long_sign;
    if (naik.links.coefficient != 0) links.naik_scale = naik.links.coefficient;
    links.phases_in_links = fat.layout.as_given ? "as given" : to_string(fat.layout.phases);
  } else {
    links.reals = form_or(fat.links, held.asked.links);
    links.demand = demand_of(pair, links.reals);
  }
  held.signs = std::move(pair.signs);
  return links;
}

}  // namespace

PassingLinks read_passing(Asked& asked, const LinksArgument& argument, const Context& context, CallMemory& memory) {
  const HostArgument host = read(asked, argument, LinkKind::thin, context);
  if (host.layout.space == MemorySpace::cuda)
    throw Error(ErrorKind::unsupported, "links.memory", "memory of the host", "STAGHORN_DEVICE");
  for (int mu = 0; mu < buffers_of(host.layout.order); ++mu)
    memory.reads(argument.name, bytes_of(host.layout, context.lattice().local(), host.buffers[std::size_t(mu)]), mu);
  return {host.layout, host.buffers};
}

bool load_links(HeldGauge& held, const LinksArgument& links, const LinksArgument* naik) {
  HostArgument host;
  std::optional<HostArgument> beside;
  bool unchanged = false;
  agree_alike(held.ranks(), naik ? "fat and long links of a gauge" : "thin links of a gauge", [&](Asked& asked) {
    asked.add("gauge", held.number);
    const Context& context = *held.context->context;
    const bool makes_others = !naik && held.action.improved();
    const LinkKind kind = makes_others ? LinkKind::fat : LinkKind::thin;  // thin: Naik links may be zero
    host = read(asked, links, kind, context, held.boundary);
    if (naik) beside = read(asked, *naik, LinkKind::naik, context, held.boundary);
    look_at_bytes(host, links.name, held.lattice().local());
    if (beside) look_at_bytes(*beside, naik->name, held.lattice().local());
    unchanged = held.gauge->links().are_there() && is_unchanged(host, held.links) &&
                held.long_links.has_value() == beside.has_value() &&
                (!beside || is_unchanged(*beside, *held.long_links));
    if (makes_others) require_fit(held.lattice(), Stencil::improved);
    if (host.layout.space == MemorySpace::cuda || (beside && beside->layout.space == MemorySpace::cuda))
      held.await_host();
  });
  if (!held.ranks().any(!unchanged)) return false;
  const LinksTaken taken = beside ? take_pair(held, host, *beside) : take_thin(held, host);
  held.links = {host.links, host.bytes};
  held.long_links = beside ? std::optional(LinksSeen{beside->links, beside->bytes}) : std::nullopt;
  held.gauge->take(taken);
  return true;
}

void trace_loops(const HeldContext& held, const LinksArgument& links, int n, const std::int32_t* const* paths,
                 const std::int32_t* lengths, double* traces) {
  constexpr int most_paths = 4096, most_steps = 4096;
  const Context& context = *held.context;
  PassingLinks host;
  agree_alike(context.communicator(), "staghorn_loop_traces", [&](Asked& asked) {
    CallMemory all;
    host = read_passing(asked, links, context, all);
    check_choice("n", n, 1, most_paths);
    check_pointer("paths", paths);
    check_pointer("lengths", lengths);
    check_pointer("traces", traces);
    asked.add("n", n);
    for (int i = 0; i < n; ++i) {
      check_pointer("paths[i]", paths[i]);
      check_choice("lengths[i]", lengths[i], 1, most_steps);
      asked.add("paths[" + std::to_string(i) + ']', std::span<const std::int32_t>(paths[i], std::size_t(lengths[i])));
      all.reads("paths", FieldBytes::of_array(paths[i], std::size_t(lengths[i]) * sizeof **paths), i);
    }
    all.reads("lengths", lengths, n);
    all.writes("traces", traces, 2 * std::int64_t(n));
    all.require_own();
  });
  LinkField field(context.lattice());
  take_links(context.communicator(), host.layout, host.buffers, field);
  std::vector<std::complex<double>> found;
  for (int i = 0; i < n; ++i)
    found.push_back(loop_trace(context.communicator(), field, {paths[i], std::size_t(lengths[i])}));
  for (const std::complex<double>& trace : found)
    if (!std::isfinite(trace.real()) || !std::isfinite(trace.imag()))
      throw Error(ErrorKind::value, links.name, "finite numbers", "others");  // the same on all ranks
  std::copy(found.begin(), found.end(), reinterpret_cast<std::complex<double>*>(traces));
}

namespace {

// Links that a call makes, if the host wants them.
struct WrittenLinks {
  HostLinks layout{};
  std::array<void*, 4> buffers{};
  bool wanted = false;

  // Local.
  void read(Asked& asked, const char* name, const staghorn_links& given, int steps, void* const* u,
            const Extents& local, CallMemory& memory) {
    asked.add(name, u != nullptr);
    wanted = u != nullptr;
    if (!wanted) return;
    layout = links_of_host(given, -1, steps);
    for (int mu = 0; mu < buffers_of(layout.order); ++mu) {
      check_pointer(name, u[mu]);
      buffers[std::size_t(mu)] = u[mu];
      memory.writes(name, bytes_of(layout, local, u[mu]), mu);
    }
  }
};

}  // namespace

void smear_links(const HeldContext& held, const LinksArgument& links, const double* weights,
                 const staghorn_links* smeared, void* const* fat, void* const* naik, void* const* unitary) {
  const Communicator& all = held.context->communicator();
  const Lattice& lattice = held.context->lattice();
  PassingLinks host;
  WrittenLinks to_fat, to_naik, to_unitary;
  agree_alike(all, "staghorn_smear_links", [&](Asked& asked) {
    CallMemory memory;
    host = read_passing(asked, links, *held.context, memory);
    check_pointer("weights", weights);
    for (int i = 0; i < 6; ++i) check_finite("weights[i]", weights[i]);
    asked.add("weights", std::span<const double>(weights, 6));
    const staghorn_links given = read_struct(smeared, "smeared");
    check(given);
    add(asked, "smeared", given);
    to_fat.read(asked, "fat", given, 1, fat, lattice.local(), memory);
    to_naik.read(asked, "naik", given, 3, naik, lattice.local(), memory);
    to_unitary.read(asked, "unitary", given, 1, unitary, lattice.local(), memory);
    memory.reads("weights", weights, 6);
    memory.require_own();
  });
  LinkField thin(lattice);
  take_links(all, host.layout, host.buffers, thin);
  if (to_fat.wanted || to_unitary.wanted) {
    LinkField made = smeared_links(all, thin, {weights[0], weights[2], weights[3], weights[4], weights[5]});
    if (to_fat.wanted) all.agree([&] { write_links(to_fat.layout, made, to_fat.buffers); });
    if (to_unitary.wanted) {
      project_links(all, made, Unitarize::u3);
      all.agree([&] { write_links(to_unitary.layout, made, to_unitary.buffers); });
    }
  }
  if (to_naik.wanted) {
    LinkField made = three_link_products(all, thin);
    for_all_sites(lattice, [&](std::int64_t site, const Coordinates&) {
      for (ColorMatrix<double>& link : made[site]) multiply(link, weights[1]);
    });
    all.agree([&] { write_links(to_naik.layout, made, to_naik.buffers); });
  }
}

void set_action(HeldGauge& held, const staghorn_action* given) {
  agree_alike(held.ranks(), "an action of a new gauge", [&](Asked& asked) {
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
