#include "solver/session/low_modes/kept_pairs.hpp"

#include <memory>
#include <utility>
#include <vector>

#include "dirac/kernels/kernel_table.hpp"
#include "halo/watch/stopwatch.hpp"
#include "solver/request/operator_request.hpp"
#include "solver/request/solve_checks.hpp"
#include "solver/request/sources.hpp"

namespace staghorn {

void load_eigenpairs(Gauge& gauge, const EigenvectorHeader& header, std::optional<bool> on_host) {
  const Stopwatch reading;
  const Context& context = gauge.context();
  const Communicator& all = context.communicator();
  const Lattice& lattice = context.lattice();
  Workbench& bench = gauge.bench();
  require_belongs(header, lattice.global(), gauge.links().identity(), gauge.links().summary().reunitarized);
  const KernelTable& kernels = context.cuda_device() >= 0 ? cuda_kernels() : cpu_kernels();
  const MemorySpace where = bench.certificate_place();
  if (!on_host) {
    SolveShape first = bench.shape(1, System::full, where);
    first.eigenpairs = header.count();
    first.eigenvector_precision = header.precision;
    on_host = eigenvectors_go_to_host(all, first, context.cuda_device());
  }
  const bool across_the_bus = kernels.space == MemorySpace::cuda && *on_host;
  Eigenpairs pairs = read_eigenpairs(all, header, lattice, kernels,
                                     across_the_bus ? MemorySpace::pinned : kernels.space, gauge.options().no_verify);
  std::unique_ptr<Deflation> loaded;
  all.agree([&] {
    loaded = std::make_unique<Deflation>(all, std::move(pairs), kernels);
    bench.certificate().make(where, lattice);
    bench.plain_links(where);
  });
  const EigenpairCertificate found = loaded->certify(bench.plain_links(where), gauge.options().boundary);
  require_eigenpairs(header, found, loaded->pairs());
  loaded->sort_by_value();
  gauge.keep_eigenpairs(std::move(loaded), found, all.max(reading.seconds()), header.path, to_string(header.format));
}

void keep_eigenpairs(Gauge& gauge, Eigenpairs pairs, const EigenReport& found) {
  const Context& context = gauge.context();
  const Communicator& all = context.communicator();
  const OperatorOptions options = operator_options(gauge.options(), 1, context.cuda_device());
  const KernelTable& kernels = context.cuda_device() >= 0 ? cuda_kernels() : cpu_kernels(options.instruction_set);
  std::unique_ptr<Deflation> kept;
  all.agree([&] { kept = std::make_unique<Deflation>(all, std::move(pairs), kernels); });
  double seconds = 0;
  for (const auto& [phase, of_phase] : found.seconds) seconds += of_phase;
  gauge.keep_eigenpairs(std::move(kept), {found.certified_residual, found.orthogonality, 0}, seconds, "", "memory");
}

void write_eigenpairs(const Gauge& gauge, const Eigenpairs& pairs, const EigenpairOutput& output) {
  write_eigenpairs(gauge.context().communicator(), output, pairs, gauge.links().identity(),
                   gauge.links().as_they_came(), gauge.options().boundary);
}

LowModes low_modes(Gauge& gauge, const SolveRequest& request, std::span<const SourceRequest> sources) {
  Deflation* const deflation = gauge.eigenpairs().deflation();
  check_low_modes(request, deflation != nullptr, sources);
  LowModes found;
  if (!request.exact_low_modes) return found;
  check_request(request, gauge.options().precision);  // they take long
  bool any_noise = false;
  std::vector<SourceSpec> of_correlators;
  for (const SourceRequest& source : sources) {
    if (!source.has_low_part()) continue;
    any_noise |= source.spec.is_noise();
    if (source.has_all_colors()) of_correlators.push_back(source.spec);
  }
  const Stopwatch clock;
  const Communicator& all = gauge.context().communicator();
  const MemorySpace where = gauge.bench().certificate_place();
  all.agree([&] { gauge.bench().plain_links(where); });
  const OperatorLinks links = gauge.bench().plain_links(where);
  const Boundary& boundary = gauge.options().boundary;
  if (any_noise) found.trace.emplace(all, links, boundary, *deflation);
  if (!of_correlators.empty())
    found.correlator.emplace(all, links, boundary, deflation->pairs(), masses_of(request), request.phases,
                             of_correlators);
  found.seconds = all.max(clock.seconds());
  return found;
}

}  // namespace staghorn
