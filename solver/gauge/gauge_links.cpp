#include "solver/gauge/gauge_links.hpp"

#include <utility>

#include "dirac/fields/site_hash.hpp"
#include "halo/watch/error.hpp"
#include "solver/krylov/table/solver_table.hpp"
#include "solver/report/gauge_summary.hpp"
#include "solver/request/option_text.hpp"
#include "solver/request/solve_checks.hpp"

namespace staghorn {

namespace {

constexpr double largest_deviation = 1e24;  // |U U^dagger - 1| of links that need not be unitary

LinkField zero_links(const Context& context) {
  std::optional<LinkField> links;
  context.communicator().agree([&] { links.emplace(context.lattice()); });  // no memory on one rank is an error on all
  return std::move(*links);
}

}  // namespace

GaugeLinks::GaugeLinks(const Context& context, const SessionOptions& options)
    : context_(context), options_(options), links_(zero_links(context)), demand_(LinkDemand::special_unitary) {}

GaugeLinks::GaugeLinks(const Context& context, LinkField links, const SessionOptions& options, LinkOrigin origin,
                       LinkDemand demand)
    : context_(context), options_(options), links_(std::move(links)), origin_(std::move(origin)), demand_(demand) {
  check();
}

std::int64_t GaugeLinks::bytes(MemorySpace space) const {
  if (space != MemorySpace::host) return links_.bytes_on_gpu();
  return links_.bytes_on_host() + (improved_ ? improved_->naik.bytes() : 0) + (thin_ ? thin_->bytes() : 0);
}

LinkField& GaugeLinks::writable(MemorySpace space) {
  are_there_ = false;
  return links_.room_in(space);
}

LinkField& GaugeLinks::writable_naik() {
  are_there_ = false;
  if (!improved_) improved_.emplace(ImprovedGauge{zero_links(context_), 0, {}});
  return improved_->naik;
}

void GaugeLinks::check() {
  const Communicator& all = context_.communicator();
  are_there_ = false;
  ++generation_;
  measured_ = false;
  unitarity_ = check_unitarity(all, links_.as_they_came());
  const std::string name = origin_.file.empty() ? "links" : origin_.file;
  if (!unitarity_.finite) throw Error(name, "finite links", "NaN or infinity among them");
  // A compressed link is rebuilt as if it were exactly in SU(3): only such links keep the operator the same.
  const bool projected = options_.reunitarize || options_.links != Reconstruct::none18;
  if (demand_ == LinkDemand::special_unitary)
    require_su3(name, unitarity_, projected);
  else if (!(unitarity_.max_deviation <= largest_deviation))
    throw Error(name, "numbers below some 1e12, for D^2 in every precision (links and mass may be scaled together)",
                "|U U^dagger - 1| = " + option_text(unitarity_.max_deviation));
  if (projected) {
    reunitarize(links_.in_place());
    origin_.checks.plaquette.reset();  // those were of other links
    origin_.checks.link_trace.reset();
  }
  summary_ = {};
  summary_.file = origin_.file;
  summary_.format = origin_.format;
  summary_.checksums = origin_.checks.checksums;
  summary_.warnings = origin_.checks.warnings;
  summary_.max_unitarity_deviation = unitarity_.max_deviation;
  summary_.reunitarized = projected;
  are_there_ = true;
}

const GaugeSummary& GaugeLinks::measured() {
  if (measured_) return summary_;
  GaugeSummary whole = summarize_gauge(context_.communicator(), on_host(), unitarity_, origin_.checks);
  whole.file = summary_.file;
  whole.format = summary_.format;
  whole.reunitarized = summary_.reunitarized;
  summary_ = std::move(whole);
  measured_ = true;
  return summary_;
}

void GaugeLinks::make_improved() {
  ++generation_;
  improved_ = improve_links(context_.communicator(), links_.in_place(), options_, context_.cuda_device());
}

void GaugeLinks::improve() {
  measured();  // observables are those of the thin links
  thin_hash_ = site_hash(context_.communicator(), on_host());
  if (options_.keep_thin_links) thin_ = on_host();
  make_improved();
}

void GaugeLinks::set_epsilon(double epsilon) {
  options_.quarks.naik_epsilon = epsilon;
  links_.room_in(MemorySpace::host) = *thin_;
  make_improved();
}

void GaugeLinks::add_naik(ImprovedGauge improved) {
  ++generation_;
  improved_ = std::move(improved);
}

bool GaugeLinks::are_alike(const LinksTaken& links) const {
  const bool is_pair = links.quarks.improved();
  return is_pair == options_.quarks.improved() && links.boundary == options_.boundary &&
         links.reals == (is_pair ? options_.naik_links : options_.links);
}

void GaugeLinks::take(const LinksTaken& links, std::optional<LinkOrigin> origin) {
  const bool is_pair = links.quarks.improved();
  if (!links.quarks.in_memory) improved_.reset();
  thin_.reset();
  origin_.checks = {};
  if (origin) {
    origin_ = std::move(*origin);
    options_.sloppy_naik_links = context_.options().sloppy_naik_links;
  }
  options_.links = options_.naik_links = Reconstruct::none18;
  (is_pair ? options_.naik_links : options_.links) = links.reals;
  options_.boundary = links.boundary;
  options_.quarks = links.quarks;
  demand_ = links.quarks.in_memory ? LinkDemand::finite : links.demand;
  check();
  if (is_pair) improve_in_place(links);
}

// Thin links that are here become fat ones, or fat links and those beside them are checked as a pair.
void GaugeLinks::improve_in_place(const LinksTaken& links) {
  are_there_ = false;
  require_fit(context_.lattice(), Stencil::improved);
  const std::optional<Reconstruct> iterated = options_.sloppy_naik_links;
  options_.sloppy_naik_links.reset();
  if (links.quarks.in_memory) {
    complete_pair(context_.communicator(), links_.in_place(), *improved_, links.naik_sign, links.naik_scale, options_);
    improved_->summary.phases_in_links = links.phases_in_links;
  } else {
    improve();
  }
  // What is iterated with stays as it was asked for, unless these links are not unitary.
  if (iterated && options_.sloppy && options_.sloppy_naik_links != Reconstruct::none18)
    options_.sloppy_naik_links = iterated;
  are_there_ = true;
}

SessionOptions GaugeLinks::with_numbers(const SolveNumbers& asked) const {
  SessionOptions wanted = options_;
  static_cast<SolveNumbers&>(wanted) = asked;
  if (improved_) choose_naik_forms(improved_->summary, wanted);
  check_options(wanted);
  solver_for(wanted);  // throws if there is none
  if (!improved_ && demand_ == LinkDemand::finite && wanted.sloppy) {
    if (!wanted.sloppy_links) wanted.sloppy_links = Reconstruct::none18;
    if (wanted.sloppy_links != Reconstruct::none18)
      throw Error("reals of a link", "18, for these links are not in SU(3)", "fewer");
  }
  return wanted;
}

EigenpairIdentity GaugeLinks::identity() const {
  const Communicator& all = context_.communicator();
  EigenpairIdentity identity = identity_of_options(options_);
  const bool made = improved_ && !options_.quarks.stored() && !options_.quarks.in_memory;
  identity["links_hash"] = hash_text(made ? thin_hash_ : site_hash(all, on_host()));
  if (improved_ && !made) {
    identity["long_links_hash"] = hash_text(site_hash(all, improved_->naik));
    identity["naik_scale"] = option_text(improved_->naik_scale);
  }
  return identity;
}

}  // namespace staghorn
