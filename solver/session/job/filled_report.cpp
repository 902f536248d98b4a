#include "solver/session/job/filled_report.hpp"

#include <sys/resource.h>

#include "dirac/kernels/experiments/bit_flips.hpp"
#include "solver/krylov/table/solver_table.hpp"
#include "solver/machine/memory_estimate.hpp"
#include "solver/observables/observable_table.hpp"
#include "solver/report/solve_report.hpp"
#include "solver/report/time_table.hpp"

namespace staghorn {

namespace {

double peak_resident_bytes() {
  rusage usage{};
  return getrusage(RUSAGE_SELF, &usage) == 0 ? 1024.0 * double(usage.ru_maxrss) : 0;
}

double sum_bytes(const Communicator& communicator, double bytes) {
  return double(communicator.sum(std::int64_t(bytes)));
}

void fill_times(SolveReport& report, const Gauge& gauge, const CertifiedSolve& done, double setup_seconds) {
  const Context& context = gauge.context();
  const Workbench& bench = gauge.bench();
  const Workbench::Times times = bench.times();
  const HopTimes& hop = times.hops;
  StaggeredOperator& iterated = bench.sloppy() ? *bench.sloppy() : bench.precise();
  const bool uncounted = iterated.host_free() && !context.cublas();  // but for the few hops outside the loop
  report.times = time_table(iterated, uncounted ? CommunicationTimes{} : times.communication, done.cg_seconds);
  report.seconds = {{"read", gauge.links().read_seconds()},
                    {"setup", setup_seconds},
                    {"solve", done.cg_seconds},
                    {"convert", done.convert_seconds},
                    {"certify", done.certify_seconds},
                    {"hop_pack", hop.pack + hop.start},
                    {"hop_interior", hop.interior},
                    {"hop_wait", hop.wait},
                    {"hop_boundary", hop.boundary},
                    {"hop_sums", hop.sums}};
  for (auto& [phase, seconds] : report.seconds) seconds = context.communicator().max(seconds);  // of the slowest rank
  if (report.seconds["solve"] > 0)
    report.site_iterations_per_second = double(context.lattice().global_volume()) * double(done.cg_iterations) *
                                        double(done.rhs.size()) / report.seconds["solve"];
}

void fill_memory(SolveReport& report, const Gauge& gauge, const SolveShape& shape, double vector_bytes,
                 double source_bytes) {
  const Communicator& all = gauge.context().communicator();
  const Workbench& bench = gauge.bench();
  const StaggeredOperator &precise = bench.precise(), *const sloppy = bench.sloppy();
  report.memory_bytes = {{"links", double(precise.link_bytes())},
                         {"sloppy_links", sloppy ? double(sloppy->link_bytes()) : 0},
                         {"halo", double(precise.halo_bytes() + (sloppy ? sloppy->halo_bytes() : 0))},
                         {"vectors", vector_bytes},
                         {"certificate_links", double(gauge.links().bytes(MemorySpace::host))},
                         {"certificate_vectors", double(bench.certificate().bytes(MemorySpace::host))},
                         {"device_certificate", bench.certificate_bytes(MemorySpace::cuda)},
                         {"sources_solutions", source_bytes},
                         {"peak_resident", peak_resident_bytes()}};
  if (const Deflation* deflation = gauge.eigenpairs().deflation()) {
    report.memory_bytes["eigenvectors"] = double(deflation->pair_bytes());
    report.memory_bytes["deflation"] = double(deflation->work_bytes());
  }
  if (const CoarseSpace* blocks = gauge.blocks().space()) {
    report.memory_bytes["blocks"] = double(blocks->bytes());
    report.memory_bytes["coarse_vectors"] =
        CoarseSpace::predicted_work_bytes(blocks->basis().grid(), blocks->basis().n(), bench.precise().options().n_rhs);
  }
  if (gauge.earlier().bytes() > 0) report.memory_bytes["earlier_solutions"] = double(gauge.earlier().bytes());
  report.memory_bytes = summed_over_ranks(all, report.memory_bytes);
  report.predicted_memory_bytes = summed_over_ranks(all, estimate_memory(shape).objects);
}

// All but memory.
SolveReport filled(const Gauge& gauge, const SolveRequest& request, const CertifiedSolve& done, double setup_seconds) {
  const Workbench& bench = gauge.bench();
  SolveReport report;
  report.rhs = done.rhs;
  report.observables = nothing_observed();
  report.checkpoint = done.checkpoint;
  const std::shared_ptr<BitFlips>& inject = gauge.options().inject;
  if (request.recover || inject) report.faults = done.faults;
  if (inject) report.faults->injected = inject->struck(gauge.context().communicator());
  if (done.spectrum.known()) report.spectrum = done.spectrum;
  report.solver = solver_for(gauge.options()).name;
  report.loop = done.loop;
  report.precise_loop = done.precise_loop;
  report.took_over = done.took_over;
  report.request = request;
  report.system = to_string(request.system);
  report.tolerance = tolerance_in_force(request, gauge.options().precision);
  fill_setting(report, gauge, bench.precise());
  if (const StaggeredOperator* sloppy = bench.sloppy()) {
    report.sloppy_transports = sloppy->transport_choice();
    report.sloppy_tuning = sloppy->tuning();
  }
  report.certificate = bench.certificate().space() == MemorySpace::cuda ? "device" : "host";
  for (std::size_t i = 0; i < report.rhs.size(); ++i) report.rhs[i].iterations_more = iterations_more(report, i);
  conclude(report);
  fill_times(report, gauge, done, setup_seconds);
  if (const Deflation* used = gauge.eigenpairs().deflation(request)) {
    report.deflation = *gauge.eigenpairs().summary();
    report.deflation->projections = used->use().projections;
    report.deflation->seconds = gauge.context().communicator().max(used->use().seconds);
  }
  if (const CoarseSpace* used = gauge.blocks().space(); used && solver_for(gauge.options()).can.blocks) {
    report.coarse = gauge.blocks().summary();
    report.coarse->solves = used->use().solves;
    report.coarse->iterations = used->use().iterations;
    report.coarse->operator_calls = used->use().products + done.cg_iterations;
    report.coarse->seconds = gauge.context().communicator().max(used->use().seconds);
  }
  return report;
}

}  // namespace

SolveReport filled_report(const Gauge& gauge, const SolveRequest& request, const CertifiedSolve& done,
                          double setup_seconds, double source_bytes) {
  const Workbench& bench = gauge.bench();
  SolveReport report = filled(gauge, request, done, setup_seconds);
  fill_memory(report, gauge, bench.shape(int(report.rhs.size()), request.system, bench.certificate().space()),
              double(bench.pass().vector_bytes()), source_bytes);
  return report;
}

SolveReport batch_report(const Gauge& gauge, const SolveRequest& request, const CertifiedSolve& done,
                         double setup_seconds, const BatchBytes& bytes) {
  const Communicator& all = gauge.context().communicator();
  const Workbench& bench = gauge.bench();
  SolveReport report = filled(gauge, request, done, setup_seconds);
  SolveShape tile = bench.shape(bench.precise().options().n_rhs, request.system, bench.certificate().space());
  tile.refills = true;
  fill_memory(report, gauge, tile, bytes.vectors, bytes.fields);
  report.memory_bytes["halo"] += sum_bytes(all, bytes.halo);
  report.memory_bytes["device_certificate"] += sum_bytes(all, bytes.fields_on_gpu);
  return report;
}

}  // namespace staghorn
