#include "solver/session/low_modes/find_eigenpairs.hpp"

#include <algorithm>
#include <optional>

#include "halo/available_memory.hpp"
#include "halo/watch/error.hpp"
#include "halo/watch/stopwatch.hpp"
#include "solver/checkpoint/checkpoints.hpp"
#include "solver/eigen/eigenpair_certificate.hpp"
#include "solver/eigen/lanczos_search.hpp"
#include "solver/machine/memory_estimate.hpp"
#include "solver/report/provenance.hpp"
#include "solver/request/operator_request.hpp"
#include "solver/request/option_text.hpp"
#include "solver/session/low_modes/kept_pairs.hpp"

namespace staghorn {

namespace {

// The largest |V^+ V - 1| of certified pairs.
double orthonormal(Precision precision) { return precision == Precision::fp64 ? 1e-10 : 1e-5; }

// Throws Error on every rank alike where the vectors do not fit.
void require_memory(const Gauge& gauge, const OperatorOptions& options, const EigenRequest& request) {
  const Communicator& all = gauge.context().communicator();
  const Lattice& lattice = gauge.context().lattice();
  const AvailableMemory available = available_memory(all, options.cuda_device);
  const bool on_gpu = options.cuda_device >= 0;
  all.agree([&] {
    const SearchMemory memory = estimate_search_memory(lattice, options, gauge.links().improved(), request.pairs);
    const double there =
        on_gpu ? std::min(available.device, available.device_limit) : std::min(available.host, available.host_limit);
    if (memory.needed() <= there) return;
    const int fitting = most_pairs_that_fit(lattice, options, gauge.links().improved(), there);
    throw Error(ErrorKind::memory,
                "memory: " + std::to_string(request.pairs) + " eigenpairs on " + to_string(lattice.global()) +
                    " with grid " + to_string(lattice.grid()) + " would take " + gigabytes(memory.needed()) + " of " +
                    (on_gpu ? "GPU" : "host") + " memory for each rank (" + std::to_string(memory.vectors) +
                    " vectors of " + gigabytes(memory.vector) + "), and " + gigabytes(there) + " are there. " +
                    (fitting > 0 ? std::to_string(fitting) + " `pairs` fit; more" : "More") + " ranks take less each.");
  });
}

std::string explain(const EigenReport& report) {
  const std::string calls = std::to_string(report.request.max_calls) + " operator calls (`max_calls`)";
  const std::string found =
      std::to_string(report.converged) + " of " + std::to_string(report.request.pairs) + " pairs had converged";
  switch (report.outcome) {
    case EigenOutcome::certified:
      return "";
    case EigenOutcome::incomplete:
      return "Pairs are missing below the last one: the probe found an eigenvalue at " +
             three_digits(report.lowest_of_probe) + ", and " + calls + " did not suffice to add it. " + found + ".";
    case EigenOutcome::out_of_calls:
      return "After " + calls + " " + found + ".";
    case EigenOutcome::inaccurate:
      return "Rounding left a residual of " + three_digits(report.certified_residual) + " and |V^+ V - 1| of " +
             three_digits(report.orthogonality) + ": a larger `tolerance` is needed.";
  }
  return "";
}

// What a checkpoint belongs to. Not the number of calls: a search may go on with more of them.
std::map<std::string, std::string> identity_of(const Gauge& gauge, const EigenRequest& request) {
  std::map<std::string, std::string> identity = gauge.links().identity();
  identity["staghorn_version"] = version();
  identity["lattice"] = to_string(gauge.context().lattice().global());
  identity["numbers"] = describe_numbers(gauge.options());
  identity["pairs"] = std::to_string(request.pairs);
  identity["tolerance"] = option_text(request.tolerance);
  identity["seed"] = std::to_string(request.seed);
  if (request.interval_from) identity["interval_from"] = option_text(*request.interval_from);
  if (request.degree) identity["degree"] = std::to_string(*request.degree);
  return identity;
}

void take_counts(EigenReport& report, const LanczosSearch& search) {
  const LanczosCounts& counts = search.counts();
  report.calls = counts.calls;
  report.filtered_vectors = counts.filtered;
  report.restarts = counts.restarts;
  report.random_vectors = counts.random_vectors;
  report.converged = counts.converged;
  report.widened = counts.widened;
  report.probes = counts.probes;
  report.found_missing = counts.found_missing;
  report.lowest_of_probe = search.lowest_of_probe();
  report.degree = search.filter().degree();
  report.interval_from = search.filter().from();
  report.interval_to = search.filter().to();
}

// The search itself: the pairs, and what the report says of it. Collective.
LanczosEnd search(Gauge& gauge, StaggeredOperator& d, const SpectralRange& range, SearchKeeper* keeper,
                  const std::function<void(const EigenProgress&)>& progress, const bool* interrupted,
                  FoundEigenpairs& found) {
  EigenReport& report = found.report;
  const EigenRequest& request = report.request;
  const Communicator& all = gauge.context().communicator();
  const OperatorOptions& options = d.options();
  OperatorOptions of_block = options;
  of_block.n_rhs = LanczosSearch::block_size(request.pairs, range.dimension);
  std::optional<StaggeredOperator> own_of_block;
  if (of_block.n_rhs > 1) own_of_block.emplace(all, gauge.links().as_they_came(), of_block, d.hop_data());
  LanczosSearch lanczos(d, own_of_block ? *own_of_block : d, Parity::even, range,
                        {request.pairs, request.tolerance * range.largest, request.max_calls, request.seed,
                         request.interval_from, request.degree, keeper, interrupted});
  report.block = of_block.n_rhs;
  report.basis = LanczosSearch::basis_size(request.pairs, range.dimension);
  const LanczosEnd end = lanczos.run([&](const LanczosCounts& counts) {
    if (progress) progress({counts.calls, counts.restarts, counts.converged, request.pairs});
  });
  std::optional<StaggeredOperator> in_fp64;
  if (options.precision != Precision::fp64) {
    OperatorOptions of_values = options;
    of_values.precision = Precision::fp64;
    of_values.tuning = Tuning::off;
    in_fp64.emplace(all, gauge.links().as_they_came(), of_values);
  }
  found.pairs = lanczos.pairs(in_fp64 ? *in_fp64 : d);
  take_counts(report, lanczos);
  report.memory_bytes = {{"links", double(all.sum(d.link_bytes()))},
                         {"halo", double(all.sum(d.halo_bytes() + (own_of_block ? own_of_block->halo_bytes() : 0)))},
                         {"basis", double(all.sum(lanczos.bytes()))},
                         {"eigenvectors", double(all.sum(found.pairs.bytes()))}};
  return end;
}

// Puts the certificate of the pairs into the report, and the pairs in order. Returns whether they are as accurate as
// they were to be. Collective.
bool certify(Gauge& gauge, const StaggeredOperator& d, FoundEigenpairs& found) {
  EigenReport& report = found.report;
  const Communicator& all = gauge.context().communicator();
  const bool on_gpu = gauge.context().field_device() >= 0;
  std::optional<OperatorLinks> links;
  all.agree([&] { links.emplace(gauge.bench().plain_links(on_gpu ? MemorySpace::cuda : MemorySpace::host)); });
  const VectorAlgebra algebra(all, *found.pairs.layout, d.kernels());
  const EigenpairCertificate certificate =
      certify_eigenpairs(all, *links, gauge.options().boundary, algebra, found.pairs, Eigenvalues::recomputed);
  sort_by_value(all, found.pairs);  // now the values are those that a reader of these vectors finds
  report.certified_residual = certificate.largest_residual;
  report.orthogonality = certificate.orthogonality;
  return certificate.largest_residual <= report.request.tolerance * report.largest_eigenvalue &&
         certificate.orthogonality <= orthonormal(d.options().precision);
}

}  // namespace

FoundEigenpairs find_eigenpairs(Gauge& gauge, const EigenRequest& request,
                                const std::function<void(const EigenProgress&)>& progress, const bool* interrupted) {
  const Context& context = gauge.context();
  const Context::Scope scope(context);
  const Communicator& all = context.communicator();
  const Extents& extents = gauge.context().lattice().global();
  check_eigen_request(request, gauge.options());
  check_eigen_request(request, extents);
  OperatorOptions options = operator_options(gauge.options(), 1, context.cuda_device());
  options.unlike_ranks = context.unlike_ranks();
  require_memory(gauge, options, request);
  std::optional<Checkpoints> checkpoints;
  if (request.checkpoint) checkpoints.emplace(all, gauge.context().lattice(), request, identity_of(gauge, request));

  FoundEigenpairs found;
  EigenReport& report = found.report;
  report.request = request;
  Stopwatch watch;
  StaggeredOperator d(all, gauge.links().as_they_came(), options, gauge.bench().packed_links());
  gauge.measured();
  fill_setting(report, gauge, d);
  report.seconds["read"] = gauge.links().read_seconds();
  report.seconds["setup"] = watch.seconds();

  watch = Stopwatch();
  SpectralRange range;
  if (const Archive* const kept = checkpoints ? checkpoints->found() : nullptr)
    (*kept)("range", range);
  else
    range = find_spectral_range(d, Parity::even, request.seed, request.max_calls);
  if (checkpoints) checkpoints->add_job([&](const Archive& archive) { archive("range", range); });
  report.largest_eigenvalue = range.largest;
  report.largest_residual = range.residual;
  report.range_calls = range.calls;
  report.seconds["range"] = watch.seconds();

  watch = Stopwatch();
  const LanczosEnd end = search(gauge, d, range, checkpoints ? &*checkpoints : nullptr, progress, interrupted, found);
  report.seconds["search"] = watch.seconds();

  watch = Stopwatch();
  const bool accurate = found.pairs.count() > 0 && certify(gauge, d, found);
  report.seconds["certify"] = watch.seconds();
  if (checkpoints) report.checkpoint = checkpoints->summary();
  report.values = found.pairs.values;
  report.residuals = found.pairs.residuals;
  report.outcome = end == LanczosEnd::out_of_calls ? EigenOutcome::out_of_calls
                   : end == LanczosEnd::incomplete ? EigenOutcome::incomplete
                   : accurate                      ? EigenOutcome::certified
                                                   : EigenOutcome::inaccurate;
  report.explanation = explain(report);
  for (auto& [phase, seconds] : report.seconds) seconds = all.max(seconds);
  return found;
}

bool write_eigenpairs(Gauge& gauge, FoundEigenpairs& found, const EigenpairOutput& output) {
  if (found.pairs.count() == 0) return false;
  const Context::Scope scope(gauge.context());
  const Stopwatch watch;
  write_eigenpairs(gauge, found.pairs, output);
  found.report.seconds["write"] = gauge.context().communicator().max(watch.seconds());
  return true;
}

}  // namespace staghorn
