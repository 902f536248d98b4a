// The report of a solve: what was asked, what the passes reached, on what machine, in what time, with what memory.
#include <omp.h>
#include <sys/resource.h>

#include <algorithm>

#include "dirac/kernels/experiments/bit_flips.hpp"
#include "solver/krylov/table/solver_table.hpp"
#include "solver/machine/memory_estimate.hpp"
#include "solver/observables/observable_table.hpp"
#include "solver/report/explanation.hpp"
#include "solver/report/iterations/iterations_more.hpp"
#include "solver/report/provenance.hpp"
#include "solver/report/time_table.hpp"
#include "solver/session/certified_solve.hpp"
#include "solver/session/gauge.hpp"

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

void Gauge::fill_setting(RunSetting& setting, const StaggeredOperator& d) const {
  setting.device = context_.device();
  setting.devices = context_.devices();
  setting.unlike_ranks = d.options().unlike_ranks;
  setting.transport = d.transport();
  setting.transports = d.transport_choice();
  setting.tuning = d.tuning();
  setting.options = options_;
  setting.lattice = lattice().global();
  setting.grid = lattice().grid();
  setting.hosts = context_.placement().hosts;
  setting.mapping = context_.placement().mapping;
  setting.share_within_hosts = context_.placement().share_within_hosts;
  setting.local = lattice().local();
  setting.widths = lattice().widths();
  setting.ranks = context_.communicator().size();
  setting.threads = omp_get_max_threads();
  setting.gauge = summary_;
  if (improved_) setting.improved = improved_->summary;
  setting.provenance = run_provenance(!context_.communicator().is_alone());
  setting.provenance["kernels"] = d.kernel_set();
  if (context_.cublas()) setting.provenance["cublas"] = context_.cublas()->version();
}

void Gauge::fill_times(SolveReport& report, const CertifiedSolve& done, double setup_seconds) const {
  HopTimes hop = precise_->times();
  CommunicationTimes communication_times = precise_->communication_times();
  if (sloppy_) {
    hop += sloppy_->times();
    communication_times += sloppy_->communication_times();
  }
  StaggeredOperator& iterated = sloppy_ ? *sloppy_ : *precise_;
  if (iterated.host_free() && !context_.cublas()) communication_times = {};  // those of the few hops outside the loop
  report.times = time_table(iterated, communication_times, done.cg_seconds);
  report.seconds = {{"read", origin_.seconds},         {"setup", setup_seconds},
                    {"solve", done.cg_seconds},        {"convert", done.convert_seconds},
                    {"certify", done.certify_seconds}, {"hop_pack", hop.pack + hop.start},
                    {"hop_interior", hop.interior},    {"hop_wait", hop.wait},
                    {"hop_boundary", hop.boundary},    {"hop_sums", hop.sums}};
  for (auto& [phase, seconds] : report.seconds) seconds = context_.communicator().max(seconds);  // of the slowest rank
  if (report.seconds["solve"] > 0)
    report.site_iterations_per_second = double(lattice().global_volume()) * double(done.cg_iterations) *
                                        double(done.rhs.size()) / report.seconds["solve"];
}

void Gauge::fill_memory(SolveReport& report, const SolveShape& shape, double vector_bytes, double source_bytes) const {
  report.memory_bytes = {
      {"links", double(precise_->link_bytes())},
      {"sloppy_links", sloppy_ ? double(sloppy_->link_bytes()) : 0},
      {"halo", double(precise_->halo_bytes() + (sloppy_ ? sloppy_->halo_bytes() : 0))},
      {"vectors", vector_bytes},
      {"certificate_links",
       double(links_.bytes_on_host() + (improved_ ? improved_->naik.bytes() : 0) + (thin_ ? thin_->bytes() : 0))},
      {"certificate_vectors", double(certificate_.bytes(MemorySpace::host))},
      {"device_certificate", certificate_bytes(MemorySpace::cuda)},
      {"sources_solutions", source_bytes},
      {"peak_resident", peak_resident_bytes()}};
  if (deflation_) {
    report.memory_bytes["eigenvectors"] = double(deflation_->pair_bytes());
    report.memory_bytes["deflation"] = double(deflation_->work_bytes());
  }
  if (earlier_.bytes() > 0) report.memory_bytes["earlier_solutions"] = double(earlier_.bytes());
  report.memory_bytes = summed_over_ranks(context_.communicator(), report.memory_bytes);
  report.predicted_memory_bytes = summed_over_ranks(context_.communicator(), estimate_memory(shape).objects);
}

SolveReport Gauge::filled(const SolveRequest& request, const CertifiedSolve& done, double setup_seconds) const {
  SolveReport report;
  report.rhs = done.rhs;
  report.observables = nothing_observed();
  report.checkpoint = done.checkpoint;
  if (request.recover || options_.inject) report.faults = done.faults;
  if (options_.inject) report.faults->injected = options_.inject->struck(context_.communicator());
  if (done.spectrum.known()) report.spectrum = done.spectrum;
  report.solver = solver_for(options_).name;
  report.loop = done.loop;
  report.precise_loop = done.precise_loop;
  report.took_over = done.took_over;
  report.request = request;
  report.system = to_string(request.system);
  report.tolerance = tolerance_in_force(request, options_.precision);
  fill_setting(report, *precise_);
  if (sloppy_) {
    report.sloppy_transports = sloppy_->transport_choice();
    report.sloppy_tuning = sloppy_->tuning();
  }
  report.certificate = certificate_.space() == MemorySpace::cuda ? "device" : "host";
  for (std::size_t i = 0; i < report.rhs.size(); ++i) report.rhs[i].iterations_more = iterations_more(report, i);
  conclude(report);
  fill_times(report, done, setup_seconds);
  if (const Deflation* used = deflation(request)) {
    report.deflation = deflation_summary_;
    report.deflation->projections = used->use().projections;
    report.deflation->seconds = context_.communicator().max(used->use().seconds);
  }
  return report;
}

SolveReport Gauge::filled_report(const SolveRequest& request, const CertifiedSolve& done, double setup_seconds,
                                 double source_bytes) const {
  SolveReport report = filled(request, done, setup_seconds);
  fill_memory(report, shape(int(report.rhs.size()), request.system, certificate_.space()),
              double(pass_->vector_bytes()), source_bytes);
  return report;
}

SolveReport Gauge::batch_report(const SolveRequest& request, const CertifiedSolve& done, double setup_seconds,
                                const BatchBytes& bytes) const {
  SolveReport report = filled(request, done, setup_seconds);
  SolveShape tile = shape(precise_->options().n_rhs, request.system, certificate_.space());
  tile.refills = true;
  fill_memory(report, tile, bytes.vectors, bytes.fields);
  report.memory_bytes["halo"] += sum_bytes(context_.communicator(), bytes.halo);
  report.memory_bytes["device_certificate"] += sum_bytes(context_.communicator(), bytes.fields_on_gpu);
  return report;
}

}  // namespace staghorn
