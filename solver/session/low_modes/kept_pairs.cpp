#include "solver/session/low_modes/kept_pairs.hpp"

#include <memory>
#include <utility>
#include <vector>

#include "dirac/kernels/kernel_table.hpp"
#include "halo/watch/stopwatch.hpp"
#include "lattice_io/files/output_file.hpp"
#include "solver/request/operator_request.hpp"
#include "solver/request/solve_checks.hpp"
#include "solver/request/sources.hpp"
#include "solver/session/low_modes/find_eigenpairs.hpp"

namespace staghorn {

namespace {

constexpr double fp32_eigen_tolerance = 1e-6;  // over the largest eigenvalue; rounding leaves 4e-7

}  // namespace

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

void take_eigenpairs(Gauge& gauge, const std::string& path, const std::optional<int>& pairs) {
  const Communicator& all = gauge.context().communicator();
  if (pairs && !file_exists(all, path)) {
    EigenRequest request;
    request.pairs = *pairs;
    if (gauge.options().precision != Precision::fp64) request.tolerance = fp32_eigen_tolerance;
    const EigenpairOutput output{path, eigenvector_format_by_name(path)};
    require_writable(output, gauge.context().lattice());
    ClaimedNames names(all);
    names.claim(path, false);
    FoundEigenpairs found = find_eigenpairs(gauge, request);
    if (found.report.outcome != EigenOutcome::certified)
      throw Error("eigenpairs", std::to_string(*pairs) + " certified pairs", found.report.explanation);
    write_eigenpairs(gauge, found, output);
  }
  load_eigenpairs(gauge, read_eigenvector_header(all, path));
}

bool eigenvectors_are_there(const Communicator& communicator, const SessionOptions& options) {
  if (!options.eigenpairs || file_exists(communicator, *options.eigenvectors)) return true;
  check_writable(communicator, *options.eigenvectors, false);
  return false;
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
