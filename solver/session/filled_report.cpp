// The report of a solve: what was asked, what the passes reached, on what machine, in what time, with what memory.
#include <omp.h>
#include <sys/resource.h>

#include <algorithm>

#include "halo/device_choice.hpp"
#include "solver/krylov/solver_table.hpp"
#include "solver/machine/memory_estimate.hpp"
#include "solver/report/explanation.hpp"
#include "solver/report/provenance.hpp"
#include "solver/report/time_table.hpp"
#include "solver/session/certified_solve.hpp"
#include "solver/session/session_state.hpp"

namespace staghorn {

namespace {

double peak_resident_bytes() {
  rusage usage{};
  return getrusage(RUSAGE_SELF, &usage) == 0 ? 1024.0 * double(usage.ru_maxrss) : 0;
}

double sum_bytes(const Communicator& communicator, double bytes) {
  return double(communicator.sum(std::int64_t(bytes)));
}

}  // namespace

void Session::State::fill_setting(SolveReport& report) const {
  report.device = describe_device(cuda_device);
  report.transport = precise->transport();
  report.transports = precise->transport_choice();
  report.tuning = precise->tuning();
  if (sloppy) {
    report.sloppy_transports = sloppy->transport_choice();
    report.sloppy_tuning = sloppy->tuning();
  }
  report.options = options;
  report.lattice = lattice().global();
  report.grid = lattice().grid();
  report.hosts = placement.hosts;
  report.mapping = placement.mapping;
  report.share_within_hosts = placement.share_within_hosts;
  report.local = lattice().local();
  report.ranks = communicator.size();
  report.threads = omp_get_max_threads();
  report.gauge = gauge;
  report.provenance = run_provenance();
  report.provenance["kernels"] = precise->kernel_set();
  if (cublas) report.provenance["cublas"] = cublas->version();
}

void Session::State::fill_times(SolveReport& report, const CertifiedSolve& done, double setup_seconds) const {
  HopTimes hop = precise->times();
  CommunicationTimes communication_times = precise->communication_times();
  if (sloppy) {
    hop += sloppy->times();
    communication_times += sloppy->communication_times();
  }
  StaggeredOperator& iterated = sloppy ? *sloppy : *precise;
  if (iterated.host_free() && !cublas) communication_times = {};  // those of the few hops outside the loop
  report.times = time_table(iterated, communication_times, done.cg_seconds);
  report.seconds = {{"read", read_seconds},
                    {"setup", setup_seconds},
                    {"solve", done.cg_seconds},
                    {"convert", done.convert_seconds},
                    {"certify", done.certify_seconds},
                    {"hop_pack", hop.pack + hop.start},
                    {"hop_interior", hop.interior},
                    {"hop_wait", hop.wait},
                    {"hop_boundary", hop.boundary},
                    {"hop_sums", hop.sums}};
  for (auto& [phase, seconds] : report.seconds) seconds = communicator.max(seconds);  // of the slowest rank
  if (report.seconds["solve"] > 0)
    report.site_iterations_per_second = double(lattice().global_volume()) * double(done.cg_iterations) *
                                        double(done.rhs.size()) / report.seconds["solve"];
}

void Session::State::fill_memory(SolveReport& report, int n_rhs, double source_bytes) const {
  report.memory_bytes = {{"links", double(precise->link_bytes())},
                         {"sloppy_links", sloppy ? double(sloppy->link_bytes()) : 0},
                         {"halo", double(precise->halo_bytes() + (sloppy ? sloppy->halo_bytes() : 0))},
                         {"vectors", double(pass->vector_bytes())},
                         {"certificate_links", double(links.bytes())},
                         {"certificate_vectors", double(residual->bytes())},
                         {"sources_solutions", source_bytes},
                         {"peak_resident", peak_resident_bytes()}};
  for (auto& [object, bytes] : report.memory_bytes) bytes = sum_bytes(communicator, bytes);
  report.predicted_memory_bytes = estimate_memory(shape(n_rhs, report.request.system)).objects;
  for (auto& [object, bytes] : report.predicted_memory_bytes) bytes *= communicator.size();
}

SolveReport Session::State::filled_report(const SolveRequest& request, const CertifiedSolve& done, double setup_seconds,
                                          double source_bytes) const {
  SolveReport report;
  report.rhs = done.rhs;
  report.solver = solver_for(options).name;
  report.loop = done.loop;
  report.precise_loop = done.precise_loop;
  report.outcome = Outcome::certified;
  for (const RhsReport& rhs : report.rhs) report.outcome = std::max(report.outcome, rhs.outcome);
  report.request = request;
  report.system = to_string(request.system);
  report.tolerance = tolerance_in_force(request, options.precision);
  fill_setting(report);
  report.explanation = explain(report);
  fill_times(report, done, setup_seconds);
  fill_memory(report, int(report.rhs.size()), source_bytes);
  return report;
}

}  // namespace staghorn
