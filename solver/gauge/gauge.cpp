#include "solver/gauge/gauge.hpp"

#include <omp.h>

#include <utility>

#include "solver/krylov/table/solver_table.hpp"
#include "solver/report/provenance.hpp"

namespace staghorn {

Gauge::Gauge(const Context& context, const SessionOptions& options)
    : links_(context, options), bench_(links_, eigenpairs_, blocks_) {}

Gauge::Gauge(const Context& context, LinkField links, const SessionOptions& options, LinkOrigin origin,
             LinkDemand demand)
    : links_(context, std::move(links), options, std::move(origin), demand), bench_(links_, eigenpairs_, blocks_) {}

LinkField& Gauge::writable_links(MemorySpace space) {
  if (space == MemorySpace::cuda) bench_.forget_copies();  // of other links
  return links_.writable(space);
}

void Gauge::take(const LinksTaken& links, std::optional<LinkOrigin> origin) {
  if (!links_.are_alike(links)) bench_.forget_operators();
  forget_modes();
  const std::optional<Reconstruct> iterated = options().sloppy_naik_links;
  links_.take(links, std::move(origin));
  if (options().sloppy_naik_links != iterated) bench_.forget_operators();
  bench_.pack_links();
}

void Gauge::improve() {
  bench_.forget_operators();
  forget_modes();
  links_.improve();
}

void Gauge::add_naik_links(ImprovedGauge improved) {
  bench_.forget_operators();
  forget_modes();
  links_.add_naik(std::move(improved));
}

void Gauge::set_epsilon(double epsilon) {
  if (epsilon == this->epsilon()) return;
  bench_.forget_operators();
  links_.set_epsilon(epsilon);
}

void Gauge::keep_eigenpairs(std::unique_ptr<Deflation> pairs, const EigenpairCertificate& certificate, double seconds,
                            const std::string& file, const std::string& format) {
  eigenpairs_.keep(std::move(pairs), certificate, seconds, file, format);
  bench_.forget_vectors();  // its solver is another with eigenvectors
}

void Gauge::keep_blocks(std::unique_ptr<CoarseSpace> space, double seconds, const std::string& file) {
  blocks_.keep(std::move(space), seconds, file);
  SessionOptions with = options();
  with.blocks = true;
  links_.set_numbers(with);
  bench_.forget_vectors();  // its solver is another with blocks
}

void Gauge::forget_modes() {
  eigenpairs_.forget();
  if (blocks_.space()) bench_.forget_vectors();
  blocks_.forget();
  SessionOptions without = options();
  without.blocks = false;
  links_.set_numbers(without);
}

void Gauge::set_numbers(const SolveNumbers& asked, const SolveRequest& request) {
  SolveNumbers with_blocks = asked;
  with_blocks.blocks = blocks_.space() != nullptr;
  const SessionOptions wanted =
      links_.with_numbers(chosen_numbers(with_blocks, options(), request, context().lattice().global_volume()));
  if (wanted.precisions() != options().precisions())
    bench_.forget_operators();
  else if (wanted.numbers() != options().numbers())
    bench_.forget_vectors();
  links_.set_numbers(wanted);
}

void Gauge::forget_derived() {
  bench_.forget_all();
  forget_modes();
  earlier_ = {};
  links_.forget_measured();
}

void fill_setting(RunSetting& setting, const Gauge& gauge, const StaggeredOperator& d) {
  const Context& context = gauge.context();
  const Lattice& lattice = context.lattice();
  setting.device = context.device();
  setting.devices = context.devices();
  setting.unlike_ranks = d.options().unlike_ranks;
  setting.transport = d.transport();
  setting.transports = d.transport_choice();
  setting.tuning = d.tuning();
  setting.options = gauge.options();
  setting.lattice = lattice.global();
  setting.grid = lattice.grid();
  setting.hosts = context.placement().hosts;
  setting.mapping = context.placement().mapping;
  setting.share_within_hosts = context.placement().share_within_hosts;
  setting.local = lattice.local();
  setting.widths = lattice.widths();
  setting.ranks = context.communicator().size();
  setting.threads = omp_get_max_threads();
  setting.gauge = gauge.links().summary();
  if (const ImprovedGauge* improved = gauge.links().improved()) setting.improved = improved->summary;
  setting.provenance = run_provenance(!context.communicator().is_alone());
  setting.provenance["kernels"] = d.kernel_set();
  if (context.cublas()) setting.provenance["cublas"] = context.cublas()->version();
}

}  // namespace staghorn
