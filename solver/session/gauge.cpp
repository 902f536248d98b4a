#include "solver/session/gauge.hpp"

#include <algorithm>

#include "dirac/fields/site_hash.hpp"
#include "dirac/fields/vector_shape.hpp"
#include "dirac/kernels/kernel_table.hpp"
#include "halo/watch/error.hpp"
#include "halo/watch/stopwatch.hpp"
#include "solver/eigen/eigenpair_file.hpp"
#include "solver/krylov/deflated_solver.hpp"
#include "solver/krylov/table/solver_table.hpp"
#include "solver/machine/memory_check.hpp"
#include "solver/report/eigen_report.hpp"
#include "solver/report/gauge_summary.hpp"
#include "solver/request/operator_request.hpp"
#include "solver/request/option_text.hpp"
#include "solver/request/solve_checks.hpp"
#include "solver/request/sources.hpp"

namespace staghorn {

namespace {

constexpr double largest_deviation = 1e24;  // |U U^dagger - 1| of links that need not be unitary

LinkField zero_links(const Context& context) {
  std::optional<LinkField> links;
  context.communicator().agree([&] { links.emplace(context.lattice()); });  // no memory on one rank is an error on all
  return std::move(*links);
}

}  // namespace

Gauge::Gauge(const Context& context, LinkField links, const SessionOptions& options, LinkOrigin origin,
             LinkDemand demand)
    : context_(context), options_(options), links_(std::move(links)), origin_(std::move(origin)), demand_(demand) {
  check_links();
}

Gauge::Gauge(const Context& context, const SessionOptions& options)
    : context_(context), options_(options), links_(zero_links(context)), demand_(LinkDemand::special_unitary) {}

LinkField& Gauge::writable_naik_links() {
  has_links_ = false;
  if (!improved_) improved_.emplace(ImprovedGauge{zero_links(context_), 0, {}});
  return improved_->naik;
}

void Gauge::check_links() {
  const Communicator& all = context_.communicator();
  has_links_ = false;
  forget_eigenpairs();
  certificate_.links_changed();
  measured_ = false;
  unitarity_ = check_unitarity(all, links_.as_they_came());
  const std::string name = origin_.file.empty() ? "links" : origin_.file;
  if (!unitarity_.finite) throw Error(name, "finite links", "NaN or infinity among them");
  // A compressed link is rebuilt as if it were exactly in SU(3): only such links keep the operator the same.
  projected_ = options_.reunitarize || options_.links != Reconstruct::none18;
  if (demand_ == LinkDemand::special_unitary)
    require_su3(name, unitarity_, projected_);
  else if (!(unitarity_.max_deviation <= largest_deviation))
    throw Error(name, "numbers below some 1e12, for D^2 in every precision (links and mass may be scaled together)",
                "|U U^dagger - 1| = " + option_text(unitarity_.max_deviation));
  if (projected_) {
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
  summary_.reunitarized = projected_;
  has_links_ = true;
}

const GaugeSummary& Gauge::measured() {
  if (measured_) return summary_;
  GaugeSummary whole = summarize_gauge(context_.communicator(), links(), unitarity_, origin_.checks);
  whole.file = summary_.file;
  whole.format = summary_.format;
  whole.reunitarized = summary_.reunitarized;
  summary_ = std::move(whole);
  measured_ = true;
  return summary_;
}

void Gauge::improve() {
  measured();  // observables are those of the thin links
  thin_hash_ = site_hash(context_.communicator(), links());
  forget_operators();
  forget_eigenpairs();
  certificate_.links_changed();
  if (options_.keep_thin_links) thin_ = links();
  improved_ = improve_links(context_.communicator(), links_.in_place(), options_, context_.cuda_device());
}

void Gauge::set_epsilon(double epsilon) {
  if (epsilon == options_.quarks.naik_epsilon.value_or(0)) return;
  forget_operators();
  certificate_.links_changed();
  options_.quarks.naik_epsilon = epsilon;
  links_.room_in(MemorySpace::host) = *thin_;
  improved_ = improve_links(context_.communicator(), links_.in_place(), options_, context_.cuda_device());
}

void Gauge::add_naik_links(ImprovedGauge improved) {
  forget_operators();
  forget_eigenpairs();
  certificate_.links_changed();
  improved_ = std::move(improved);
}

void Gauge::take(const LinksTaken& links, std::optional<LinkOrigin> origin) {
  const bool is_pair = links.quarks.improved();
  Reconstruct& reals = is_pair ? options_.naik_links : options_.links;
  if (is_pair != options_.quarks.improved() || !(links.boundary == options_.boundary) || links.reals != reals)
    forget_operators();
  if (!links.quarks.in_memory) improved_.reset();
  thin_.reset();
  origin_.checks = {};
  if (origin) {
    origin_ = std::move(*origin);
    options_.sloppy_naik_links = context_.options().sloppy_naik_links;
  }
  options_.links = options_.naik_links = Reconstruct::none18;
  reals = links.reals;
  options_.boundary = links.boundary;
  options_.quarks = links.quarks;
  demand_ = links.quarks.in_memory ? LinkDemand::finite : links.demand;
  check_links();
  if (is_pair) improve_in_place(links);
  if (precise_) pack_links();
}

// Thin links that are here become fat ones, or fat links and those beside them are checked as a pair. The operators
// stay, and hold the links of before.
void Gauge::improve_in_place(const LinksTaken& links) {
  has_links_ = false;
  require_fit(lattice(), Stencil::improved);
  const std::optional<Reconstruct> iterated = options_.sloppy_naik_links;
  options_.sloppy_naik_links.reset();
  if (links.quarks.in_memory) {
    complete_pair(context_.communicator(), links_.in_place(), *improved_, links.naik_sign, links.naik_scale, options_);
    improved_->summary.phases_in_links = links.phases_in_links;
  } else {
    measured();  // observables are those of the thin links
    thin_hash_ = site_hash(context_.communicator(), links_.on_host());
    if (options_.keep_thin_links) thin_ = links_.on_host();
    improved_ = improve_links(context_.communicator(), links_.in_place(), options_, context_.cuda_device());
  }
  // What is iterated with stays as it was asked for, unless these links are not unitary.
  if (iterated && options_.sloppy && options_.sloppy_naik_links != Reconstruct::none18)
    options_.sloppy_naik_links = iterated;
  if (options_.sloppy_naik_links != iterated) forget_operators();
  has_links_ = true;
}

bool Gauge::certifies_on_gpu() const {
  if (context_.field_device() < 0 || options_.certificate == CertificatePlace::host) return false;
  if (options_.certificate == CertificatePlace::device) return true;
  return certificate_.made() && certificate_.space() == MemorySpace::cuda;
}

OperatorLinks Gauge::plain_links(MemorySpace space) {
  if (space != MemorySpace::cuda) return staghorn::operator_links(links(), improved_);
  certificate_.bring_links(operator_links());
  return certificate_.links_on_gpu(operator_links());
}

OperatorLinks Gauge::links_to_pack(MemorySpace space) {
  std::optional<OperatorLinks> links;
  context_.communicator().agree([&] {  // there may be no memory for a copy
    links.emplace(space == MemorySpace::cuda && !improved_ ? plain_links(space) : operator_links());
  });
  return *links;
}

void Gauge::pack_links() {
  try {
    const OperatorLinks links = links_to_pack(certifies_on_gpu() ? MemorySpace::cuda : MemorySpace::host);
    precise_->reload(links);
    if (sloppy_) sloppy_->reload(links, precise_->hop_data());
  } catch (...) {
    forget_operators();  // some links may be those of before
    throw;
  }
}

void Gauge::forget_operators() {
  pass_.reset();
  precise_.reset();
  sloppy_.reset();
}

void Gauge::forget_derived() {
  forget_operators();
  forget_eigenpairs();
  certificate_ = {};
  earlier_ = {};
  measured_ = false;
}

EigenpairIdentity Gauge::eigenpair_identity() const {
  const Communicator& all = context_.communicator();
  EigenpairIdentity identity = identity_of_options(options_);
  const bool made = improved_ && !options_.quarks.stored() && !options_.quarks.in_memory;
  identity["links_hash"] = hash_text(made ? thin_hash_ : site_hash(all, links()));
  if (improved_ && !made) {
    identity["long_links_hash"] = hash_text(site_hash(all, improved_->naik));
    identity["naik_scale"] = option_text(improved_->naik_scale);
  }
  return identity;
}

void Gauge::load_eigenpairs(const EigenvectorHeader& header, std::optional<bool> on_host) {
  const Stopwatch reading;
  const Communicator& all = context_.communicator();
  const bool on_gpu = context_.field_device() >= 0;
  require_belongs(header, lattice().global(), eigenpair_identity(), projected_);
  const KernelTable& kernels = context_.cuda_device() >= 0 ? cuda_kernels() : cpu_kernels();
  const MemorySpace where =
      certificate_space(options_.certificate, on_gpu ? MemorySpace::cuda : MemorySpace::host, on_gpu);
  if (!on_host) {
    SolveShape first = shape(1, System::full, where);
    first.eigenpairs = header.count();
    first.eigenvector_precision = header.precision;
    on_host = eigenvectors_go_to_host(all, first, context_.cuda_device());
  }
  const bool across_the_bus = kernels.space == MemorySpace::cuda && *on_host;
  Eigenpairs pairs = read_eigenpairs(all, header, lattice(), kernels,
                                     across_the_bus ? MemorySpace::pinned : kernels.space, options_.no_verify);
  std::unique_ptr<Deflation> loaded;
  all.agree([&] {
    loaded = std::make_unique<Deflation>(all, std::move(pairs), kernels);
    certificate_.make(where, lattice());
    plain_links(where);
  });
  const EigenpairCertificate found = loaded->certify(plain_links(where), options_.boundary);
  require_eigenpairs(header, found, loaded->pairs());
  loaded->sort_by_value();
  take_eigenpairs(std::move(loaded), found, all.max(reading.seconds()));
  deflation_summary_.file = header.path;
  deflation_summary_.format = to_string(header.format);
}

void Gauge::keep_eigenpairs(Eigenpairs pairs, const EigenReport& found) {
  const Communicator& all = context_.communicator();
  const OperatorOptions options = operator_options(options_, 1, context_.cuda_device());
  const KernelTable& kernels = context_.cuda_device() >= 0 ? cuda_kernels() : cpu_kernels(options.instruction_set);
  std::unique_ptr<Deflation> kept;
  all.agree([&] { kept = std::make_unique<Deflation>(all, std::move(pairs), kernels); });
  double seconds = 0;
  for (const auto& [phase, of_phase] : found.seconds) seconds += of_phase;
  take_eigenpairs(std::move(kept), {found.certified_residual, found.orthogonality, 0}, seconds);
  deflation_summary_.format = "memory";
}

void Gauge::take_eigenpairs(std::unique_ptr<Deflation> pairs, const EigenpairCertificate& certificate, double seconds) {
  deflation_ = std::move(pairs);
  const Eigenpairs& now = deflation_->pairs();
  deflation_summary_ = {};
  deflation_summary_.pairs = long(now.count());
  deflation_summary_.space = now.space;
  deflation_summary_.precision = deflation_->precision();
  deflation_summary_.smallest = now.values.front();
  deflation_summary_.largest = now.values.back();
  deflation_summary_.largest_residual = certificate.largest_residual;
  deflation_summary_.largest_change = certificate.largest_change;
  deflation_summary_.orthogonality = certificate.orthogonality;
  deflation_summary_.read_seconds = seconds;
  uses_eigenpairs_ = true;
  eigenvectors_ = to_string(deflation_->precision()) + " ";
  for (const double value : now.values) eigenvectors_ += option_text(value) + " ";
  pass_.reset();  // its solver is another with eigenvectors
}

void Gauge::write_eigenpairs(const EigenpairOutput& output) const {
  staghorn::write_eigenpairs(context_.communicator(), output, eigenpairs(), eigenpair_identity(), operator_links(),
                             options_.boundary);
}

void Gauge::forget_eigenpairs() { deflation_.reset(); }

LowModes Gauge::low_modes(const SolveRequest& request, std::span<const SourceRequest> sources) {
  check_request(request, options_.precision);
  check_low_modes(request, deflation_ != nullptr, sources);
  LowModes found;
  if (!request.exact_low_modes) return found;
  bool any_noise = false;
  std::vector<SourceSpec> of_correlators;
  for (const SourceRequest& source : sources) {
    any_noise |= source.spec.is_noise();
    if (source.has_all_colors()) of_correlators.push_back(source.spec);
  }
  const Stopwatch clock;
  const bool on_gpu = context_.field_device() >= 0;
  const MemorySpace where =
      certificate_space(options_.certificate, on_gpu ? MemorySpace::cuda : MemorySpace::host, on_gpu);
  const Communicator& all = context_.communicator();
  all.agree([&] { plain_links(where); });
  const OperatorLinks links = plain_links(where);
  if (any_noise) found.trace.emplace(all, links, options_.boundary, *deflation_);
  if (!of_correlators.empty())
    found.correlator.emplace(all, links, options_.boundary, deflation_->pairs(), masses_of(request), request.phases,
                             of_correlators);
  found.seconds = all.max(clock.seconds());
  return found;
}

void Gauge::set_numbers(const SessionOptions& asked) {
  SessionOptions wanted = options_;
  wanted.precision = asked.precision;
  wanted.sloppy = asked.sloppy;
  wanted.sloppy_links = asked.sloppy_links;
  wanted.sloppy_naik_links = asked.sloppy_naik_links;
  wanted.solver = asked.solver;
  wanted.preconditioner = asked.preconditioner;
  if (improved_) choose_naik_forms(improved_->summary, wanted);
  check_options(wanted);
  solver_for(wanted);  // throws if there is none
  if (!improved_ && demand_ == LinkDemand::finite && wanted.sloppy) {
    if (!wanted.sloppy_links) wanted.sloppy_links = Reconstruct::none18;
    if (wanted.sloppy_links != Reconstruct::none18)
      throw Error("reals of a link", "18, for these links are not in SU(3)", "fewer");
  }
  if (wanted.precision == options_.precision && wanted.sloppy == options_.sloppy &&
      wanted.sloppy_links == options_.sloppy_links && wanted.sloppy_naik_links == options_.sloppy_naik_links &&
      wanted.solver == options_.solver && wanted.preconditioner == options_.preconditioner)
    return;
  forget_operators();
  options_ = wanted;
}

SolveShape Gauge::shape(int n_rhs, System system, MemorySpace certificate) const {
  SolveShape shape = {lattice().global(), lattice().grid(), options_, n_rhs, system, context_.cuda_device() >= 0};
  shape.widths = lattice().widths();
  shape.rank = lattice().rank();
  shape.unlike_ranks = context_.unlike_ranks();
  shape.options.certificate = certificate == MemorySpace::cuda ? CertificatePlace::device : CertificatePlace::host;
  if (deflation_) {
    shape.eigenpairs = std::int64_t(deflation_->pairs().count());
    shape.eigenvector_precision = deflation_->precision();
    shape.eigenvectors_on_host = deflation_->pairs().space == MemorySpace::pinned;
  }
  return shape;
}

MemoryBudget Gauge::held_memory(const MemoryEstimate& estimate, double of_operators) const {
  const double held = estimate.objects.at("certificate_links") + double(certificate_.bytes(MemorySpace::host));
  const double of_certificate =
      std::min(certificate_bytes(MemorySpace::cuda), estimate.objects.at("device_certificate"));
  MemoryBudget bytes = held_by(of_operators);
  bytes.host += held;
  if (context_.cuda_device() >= 0) bytes.device += of_certificate;
  return bytes;
}

MemoryBudget Gauge::held_by(double of_operators) const {
  MemoryBudget held;
  double& there = context_.cuda_device() >= 0 ? held.device : held.host;
  there = of_operators;
  if (!deflation_) return held;
  there += double(deflation_->work_bytes());
  (deflation_->pairs().space == MemorySpace::cuda ? held.device : held.host) += double(deflation_->pair_bytes());
  return held;
}

double Gauge::operator_bytes() const {
  double bytes = pass_ ? double(pass_->vector_bytes()) : 0;
  for (const StaggeredOperator* d : {precise_.get(), sloppy_.get()})
    if (d) bytes += double(d->link_bytes() + d->halo_bytes());
  return bytes;
}

MemorySpace Gauge::place_certificate(std::span<const VectorField> sources, std::span<const VectorField> solutions,
                                     System system) {
  const bool on_gpu = context_.field_device() >= 0;
  const MemorySpace given = common_space(sources, solutions);
  const bool is_open = options_.certificate == CertificatePlace::automatic && on_gpu && given != MemorySpace::cuda;
  if (!is_open) return certificate_space(options_.certificate, given, on_gpu);
  if (pass_ && certificate_.is_ready_on_gpu(sources.size(), solutions.size())) return MemorySpace::cuda;
  SolveShape there = shape(int(sources.size()), system, MemorySpace::cuda);
  there.n_masses = int(solutions.size() / sources.size());
  MemoryBudget held = held_memory(estimate_memory(there), operator_bytes());
  held.host += double(sources.size() + solutions.size()) * double(sources[0].bytes());
  if (fits_on_all(context_.communicator(), there, context_.cuda_device(), held)) return MemorySpace::cuda;
  certificate_.drop_links();
  return MemorySpace::host;
}

double Gauge::certificate_bytes(MemorySpace space) const {
  return double(certificate_.bytes(space) + (space == MemorySpace::cuda ? links_.bytes_on_gpu() : 0));
}

void Gauge::make_operators(const SolveShape& wanted_shape) {
  const int cuda_device = context_.cuda_device();
  const int n_rhs = wanted_shape.n_rhs;
  const auto packed = precise_ ? precise_->hop_data() : nullptr;  // links that are there stay
  const auto sloppy_packed = sloppy_ ? sloppy_->hop_data() : nullptr;
  const double held_links = double((precise_ ? precise_->link_bytes() : 0) + (sloppy_ ? sloppy_->link_bytes() : 0));
  forget_operators();  // frees its memory before the next takes its own
  const MemoryEstimate estimate = estimate_memory(wanted_shape);
  MemoryBudget held = held_memory(estimate, held_links);
  if (!wanted_shape.refills) held.host += estimate.objects.at("sources_solutions");  // the caller made them
  const Communicator& all = context_.communicator();
  require_memory(all, wanted_shape, cuda_device, held);
  const bool certified_there = wanted_shape.options.certificate == CertificatePlace::device;
  const OperatorLinks links = links_to_pack(certified_there ? MemorySpace::cuda : MemorySpace::host);
  auto made = std::make_unique<StaggeredOperator>(all, links, operator_options(options_, n_rhs, cuda_device), packed);
  if (options_.sloppy)
    sloppy_ = std::make_unique<StaggeredOperator>(all, links,
                                                  operator_options(iterated_options(options_), n_rhs, cuda_device),
                                                  sloppy_packed ? sloppy_packed : made->hop_data());
  precise_ = std::move(made);  // both are there, or, where one fails, neither
}

void Gauge::prepare(int n_rhs, System system, MemorySpace certificate) {
  if (!precise_ || precise_->options().n_rhs != n_rhs) make_operators(shape(n_rhs, system, certificate));
  const bool first = !pass_;
  // If an allocation fails on one rank, all ranks get its Error, and the gauge is of no use before forget_derived().
  context_.communicator().agree([&] {
    if (!pass_) {
      const SolverEntry& entry = solver_for(options_);
      std::unique_ptr<KrylovSolver> solver =
          entry.make({*precise_, sloppy_.get(), context_.cublas(), options_.preconditioner});
      if (deflation_ && !entry.can.deflate) solver = std::make_unique<DeflatedSolver>(*precise_, std::move(solver));
      pass_ = std::make_unique<EvenOddPass>(*precise_, std::move(solver), context_.loop());
    }
    certificate_.make(certificate, lattice());
    plain_links(certificate);
  });
  if (first && context_.on_gpus()) pass_->rehearse(system);  // hops are collective: all ranks, or none
  precise_->reset_times();
  if (sloppy_) sloppy_->reset_times();
  if (deflation_) deflation_->reset_use();
}

Gauge::BatchParts Gauge::prepare_batch(int columns, std::size_t n_sources, System system, MemorySpace certificate) {
  const Communicator& all = context_.communicator();
  const int most = int(std::min<std::size_t>(n_sources, max_rhs));
  SolveShape wanted = shape(std::min(columns > 0 ? columns : usual_batch, most), system, certificate);
  wanted.refills = true;
  if (columns == 0) {
    const double links = double((precise_ ? precise_->link_bytes() : 0) + (sloppy_ ? sloppy_->link_bytes() : 0));
    wanted.n_rhs = most_rhs_that_fit(all, wanted, context_.cuda_device(), held_memory(estimate_memory(wanted), links));
  }
  pass_.reset();  // its vectors would stand beside those of the tile
  if (!precise_ || precise_->options().n_rhs != wanted.n_rhs) make_operators(wanted);
  std::optional<OperatorLinks> plain;
  all.agree([&] {
    certificate_.make(certificate, lattice());
    plain.emplace(plain_links(certificate));
  });
  precise_->reset_times();
  if (sloppy_) sloppy_->reset_times();
  return {*precise_, sloppy_.get(), certificate_, operator_links(), *plain};
}

}  // namespace staghorn
