// Gauges of staghorn.h: made, updated in place, asked, destroyed. Hops; loops and smearing of links; sums over sites.
#include <staghorn.h>

#include <array>
#include <cmath>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "dirac/algebra/exact_sum.hpp"
#include "dirac/fields/site_hash.hpp"
#include "dirac/fields/vector_shape.hpp"
#include "dirac/operators/plain_operator.hpp"
#include "halo/watch/error.hpp"
#include "solver/interface/alike.hpp"
#include "solver/interface/handles.hpp"
#include "solver/interface/link_calls.hpp"
#include "solver/interface/statuses.hpp"
#include "solver/interface/struct_layouts.hpp"
#include "solver/interface/structs.hpp"
#include "solver/interface/words.hpp"
#include "solver/session/low_modes/coarse_basis.hpp"
#include "solver/session/low_modes/kept_pairs.hpp"
#include "solver/session/session.hpp"

namespace staghorn {

namespace {

// The gauge goes, and its handle. Within a Use. Local.
void forget(HeldContext& context, staghorn_gauge* handle) {
  context.gauges.erase(handle);
  held_by(handle)->gauge.reset();
  drop_handle(handle);
}

// What the words of a new gauge ask for, beside those of its context. Local.
void read_words(HeldGauge& held, Asked& asked, const staghorn_words* words) {
  const HeldContext& context = *held.context;
  const std::map<std::string, std::string> texts = texts_of(words);
  asked.add("links.words", in_one_line(texts).c_str());
  SolveOptions options{context.context->options(), {}, {}, {}};
  set_texts(options, texts, OptionsOf::gauge);
  held.asked = completed_options(options.session);
  if (context.options.certificate == STAGHORN_CERTIFICATE_WITH_SOLVE && context.context->field_device() >= 0)
    held.asked.certificate = CertificatePlace::device;
  if (texts.count("boundary") || context.texts.count("boundary")) held.boundary = held.asked.boundary;
  if (held.asked.quarks.stored()) return;
  held.action = held.asked.quarks;
  held.long_reals = held.asked.naik_links;
}

// A gauge of the context with these words, filled by `load`. Collective.
template <class Load>
int create(staghorn_context* handle, staghorn_gauge** gauge, const std::function<const staghorn_words*()>& words,
           const Load& load) {
  return guarded([&] {
    const auto context = held_together(handle);
    std::shared_ptr<HeldGauge> held;
    staghorn_gauge* made = nullptr;
    const auto work = [&] {
      agree_alike(context->context->communicator(), "a new gauge", [&](Asked& asked) {
        check_pointer("gauge", gauge);
        *gauge = nullptr;
        held = std::make_shared<HeldGauge>();
        held->context = context;
        read_words(*held, asked, words());
      });
      load(*held);
      held->loads = 1;
      held->ranks().agree([&] { context->gauges.insert(made = make_handle(held)); });
      return int(STAGHORN_OK);
    };
    try {
      run_together(*context, std::cref(work));
    } catch (...) {  // a gauge goes within the scope of its context
      const Use use(*context);
      if (made) forget(*context, made);
      held.reset();
      throw;
    }
    held->number = ++context->gauges_made;
    *gauge = made;
  });
}

// A gauge with links of the host, `naik` unless it is NULL beside fat ones. `action`: what thin links become.
int create_of(staghorn_context* context, staghorn_gauge** gauge, const LinksArgument& links,
              const LinksArgument* naik = nullptr, const std::optional<const staghorn_action*>& action = {}) {
  return create(
      context, gauge, [&] { return read_struct(links.given, links.name).words; },
      [&](HeldGauge& held) {
        const SessionOptions& asked = held.asked;
        held.ranks().agree([&] {
          if (asked.quarks.stored())
            throw Error("fat", "no links from files beside links from memory", *asked.quarks.fat);
        });
        held.gauge = std::make_unique<Gauge>(*held.context->context, asked);
        if (action) set_action(held, *action);
        load_links(held, links, naik);
        if (asked.eigenvectors) take_eigenpairs(*held.gauge, *asked.eigenvectors, asked.eigenpairs);
        if (asked.coarse) load_blocks(*held.gauge, read_eigenvector_header(held.ranks(), *asked.coarse));
      });
}

// Other links in a gauge.
int update(staghorn_gauge* gauge, const LinksArgument& links, const LinksArgument* naik = nullptr) {
  return collectively(gauge, [&](HeldGauge& held) { held.loads += load_links(held, links, naik); });
}

void read_file(HeldGauge& held, const char* path) {
  agree_alike(held.ranks(), "staghorn_gauge_read", [&](Asked& asked) { asked.add("path", path); });
  held.links.links = defaults_of<staghorn_links>(STAGHORN_LINKS);
  if (held.asked.quarks.stored()) held.long_links = held.links;
  held.gauge = gauge_of_file(*held.context->context, path ? path : "", held.asked);
}

void get(HeldGauge& held, staghorn_gauge_info* info) {
  staghorn_gauge_info made{};
  agree_on(held, "staghorn_gauge_get", [&](Asked&) { check_written(info, "info"); });
  const GaugeSummary& summary = held.gauge->measured();
  const UnitarityCheck& unitarity = held.gauge->links().unitarity();
  const ImprovedGauge* improved = held.gauge->links().improved();
  made.naive = improved ? 0 : 1;
  made.plaquette[0] = summary.plaquette;
  made.plaquette[1] = summary.plaquette_space;
  made.plaquette[2] = summary.plaquette_time;
  made.link_trace[0] = summary.link_trace.real();
  made.link_trace[1] = summary.link_trace.imag();
  made.unitarity = unitarity.max_deviation;
  made.determinant = unitarity.max_determinant_deviation;
  made.hash = site_hash(held.ranks(), held.gauge->links().on_host());
  made.loads = held.loads;
  if (improved) {
    made.coefficient = improved->naik_scale;
    made.long_unitarity = improved->summary.naik_unitarity;
    made.long_hash = site_hash(held.ranks(), improved->naik);
  }
  write_struct(info, info->struct_size, made);
}

void give_links(HeldGauge& held, const staghorn_links* links, void* const* u) {
  HostLinks layout;
  std::array<void*, 4> written{};
  agree_on(held, "staghorn_gauge_links",
           [&](Asked&) { read_written_links(links, u, held.lattice().local(), layout, written); });
  const LinkField& used = held.gauge->links().on_host();
  held.ranks().agree([&] { write_links(layout, used, written); });
}

void hop(HeldGauge& held, const staghorn_vectors* vectors, int target, int n, const void* const* in, void* const* out) {
  const Context& context = *held.context->context;
  VectorsArgument argument;
  std::optional<OperatorLinks> links;
  std::optional<Parity> parity, source;
  agree_on(held, "staghorn_hop", [&](Asked& asked) {
    argument = VectorsArgument(vectors, "vectors", context.field_device(), &held.signs);
    asked.add("vectors.phases", argument.given.phases);
    asked.add("target", target);
    asked.add("n", n);
    check_choice("target", target, STAGHORN_FULL, STAGHORN_ODD);
    if (target != STAGHORN_FULL) parity = Parity(target - STAGHORN_EVEN);
    if (parity) source = opposite(*parity);
    check_choice("n", n, 1, max_rhs);
    if (argument.host.half && target == STAGHORN_FULL)
      throw Error(ErrorKind::layout, "target", "EVEN or ODD for half vectors", "FULL");
    check_pointer("in", in);
    check_pointer("out", out);
    CallMemory all;
    for (int i = 0; i < n; ++i) {
      check_memory("in[i]", in[i], argument.given.memory, context.cuda_device());
      check_memory("out[i]", out[i], argument.given.memory, context.cuda_device());
      all.reads("in", bytes_of(argument.host, held.lattice().local(), source, in[i]), i);
      all.writes("out", bytes_of(argument.host, held.lattice().local(), parity, out[i]), i);
    }
    all.require_own();
    if (argument.host.space == MemorySpace::cuda) held.await_host();
    held.make_a_field(argument.host.space);
    links.emplace(held.gauge->bench().plain_links(argument.host.space));
  });
  const auto& [given, host, signs] = argument;
  for (int i = 0; i < n; ++i) {
    VectorField &from = held.sources[0], &to = held.solutions[0];
    read_vector(host, signs, source, in[i], from);
    plain_hop(context.communicator(), *links, held.gauge->options().boundary, to, from, parity);
    write_vector(host, signs, parity, to, out[i]);
  }
}

void sum_sites(const Context& context, const double* values, double* sum) {
  const std::size_t sites = std::size_t(context.lattice().local_volume());
  agree_alike(context.communicator(), "staghorn_site_sum", [&](Asked&) {
    check_pointer("site_values", values);
    check_pointer("sum", sum);
    CallMemory all;
    all.reads("site_values", values, std::int64_t(sites));
    all.writes("sum", sum, 1);
    all.require_own();
  });
  const double found = exact_sum(context.communicator(), {values, sites});
  if (!std::isfinite(found)) throw Error(ErrorKind::value, "site_values", "finite numbers", "others");
  *sum = found;
}

void report(HeldGauge& held, char* json, std::size_t* bytes) {
  agree_on(held, "staghorn_gauge_report", [&](Asked&) { check_pointer("bytes", bytes); });
  const std::string text = to_json(held.gauge->measured());
  held.ranks().agree([&] { give_text(text, json, bytes); });
}

}  // namespace

}  // namespace staghorn

using namespace staghorn;

int staghorn_gauge_create(staghorn_context* context, const staghorn_links* links, const void* const u[4],
                          staghorn_gauge** gauge) {
  return create_of(context, gauge, {"links", links, u});
}

int staghorn_gauge_create_improved(staghorn_context* context, const staghorn_links* fat_links, const void* const fat[4],
                                   const staghorn_links* naik_links, const void* const naik[4],
                                   staghorn_gauge** gauge) {
  const LinksArgument beside{"naik_links", naik_links, naik};
  return create_of(context, gauge, {"fat_links", fat_links, fat}, &beside);
}

int staghorn_gauge_create_action(staghorn_context* context, const staghorn_links* links, const void* const u[4],
                                 const staghorn_action* action, staghorn_gauge** gauge) {
  return create_of(context, gauge, {"links", links, u}, nullptr, action);
}

int staghorn_gauge_read(staghorn_context* context, const char* path, const staghorn_words* words,
                        staghorn_gauge** gauge) {
  return create(
      context, gauge, [&] { return words; }, [&](HeldGauge& held) { read_file(held, path); });
}

int staghorn_gauge_update(staghorn_gauge* gauge, const staghorn_links* links, const void* const u[4]) {
  return update(gauge, {"links", links, u});
}

int staghorn_gauge_update_improved(staghorn_gauge* gauge, const staghorn_links* fat_links, const void* const fat[4],
                                   const staghorn_links* naik_links, const void* const naik[4]) {
  const LinksArgument beside{"naik_links", naik_links, naik};
  return update(gauge, {"fat_links", fat_links, fat}, &beside);
}

int staghorn_gauge_get(staghorn_gauge* gauge, staghorn_gauge_info* info) {
  return collectively(gauge, [&](HeldGauge& held) { get(held, info); });
}

int staghorn_gauge_links(staghorn_gauge* gauge, const staghorn_links* links, void* const u[4]) {
  return collectively(gauge, [&](HeldGauge& held) { give_links(held, links, u); });
}

int staghorn_gauge_report(staghorn_gauge* gauge, char* json, std::size_t* bytes) {
  return collectively(gauge, [&](HeldGauge& held) { report(held, json, bytes); });
}

int staghorn_gauge_destroy(staghorn_gauge** gauge) {
  return guarded([&] {
    check_pointer("gauge", gauge);
    if (!*gauge) return;
    const auto held = held_by(*gauge);
    const Use use(*held->context);
    forget(*held->context, *gauge);
    *gauge = nullptr;
  });
}

int staghorn_hop(staghorn_gauge* gauge, const staghorn_vectors* vectors, int target, int n, const void* const* in,
                 void* const* out) {
  return collectively(gauge, [&](HeldGauge& held) { hop(held, vectors, target, n, in, out); });
}

int staghorn_loop_traces(staghorn_context* context, const staghorn_links* links, const void* const u[4], int n,
                         const std::int32_t* const* paths, const std::int32_t* lengths, double* traces) {
  return collectively(context, [&](HeldContext& held) {
    trace_loops(held, {"links", links, u}, n, paths, lengths, traces);
  });
}

int staghorn_smear_links(staghorn_context* context, const staghorn_links* links, const void* const u[4],
                         const double weights[6], const staghorn_links* smeared, void* const fat[4],
                         void* const naik[4], void* const unitary[4]) {
  return collectively(context, [&](HeldContext& held) {
    smear_links(held, {"links", links, u}, weights, smeared, fat, naik, unitary);
  });
}

int staghorn_site_sum(staghorn_context* context, const double* site_values, double* sum) {
  return collectively(context, [&](HeldContext& held) { sum_sites(*held.context, site_values, sum); });
}
