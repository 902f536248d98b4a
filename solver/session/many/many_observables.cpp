#include "solver/session/many/many_observables.hpp"

#include <algorithm>
#include <span>

#include "solver/report/propagator_observables.hpp"

namespace staghorn {

namespace {

std::vector<SourceRequest> requests_of(const SourceList& sources) {
  std::vector<SourceRequest> requests;
  for (const SourceList::Entry& entry : sources.entries()) requests.push_back(entry.request);
  return requests;
}

}  // namespace

ManyObservables::ManyObservables(Session& session, const SourceList& sources, const SolveRequest& request)
    : communicator_(session.communicator()),
      sources_(sources),
      request_(request),
      n_masses_(std::max<std::size_t>(request.masses.size(), 1)),
      site_norms2_(n_masses_ * sources.size()),
      trace_(n_masses_ * sources.size(), 0),
      correlators_(n_masses_ * sources.entries().size()),
      low_modes_(session.resident().low_modes(request, requests_of(sources))),
      seen_(sources.size()) {}

void ManyObservables::take(std::size_t number, const VectorField& solution) {
  if (request_.system != System::full) return;
  const std::size_t rhs = number % sources_.size(), of_mass = number - rhs, mass_number = number / sources_.size();
  const std::size_t source = sources_.entry_of(rhs);
  const SourceList::Entry& entry = sources_.entries()[source];
  if (entry.is_noise()) {
    const VectorField noise = sources_.make(rhs);
    trace_[number] = trace_estimate(communicator_, noise, solution);
    if (low_modes_.trace) {
      if (seen_[rhs].empty()) seen_[rhs] = seen_by_low_modes(*low_modes_.trace, request_, noise);
      trace_[number] += low_modes_.trace->correction(mass(mass_number), seen_[rhs]);
    }
  }
  if (!entry.request.has_all_colors()) return;
  add_site_norms2(site_norms2_[number], solution);
  const std::span<std::vector<double>> colors = std::span(site_norms2_).subspan(of_mass + entry.first, entry.n);
  for (const std::vector<double>& color : colors)
    if (color.empty()) return;
  std::vector<double> sum = std::move(colors[0]);  // colours in order
  for (std::size_t color = 1; color < entry.n; ++color)
    for (std::size_t site = 0; site < sum.size(); ++site) sum[site] += colors[color][site];
  for (std::vector<double>& color : colors) color = {};
  std::vector<double>& correlator = correlators_[mass_number * sources_.entries().size() + source];
  correlator = time_slice_sums(communicator_, solution.lattice(), sum);
  if (low_modes_.correlator)
    correlator = low_modes_.correlator->improve(std::move(correlator), mass_number, entry.request.spec);
}

void ManyObservables::put_into(SolveReport& report) const {
  report.source.clear();
  if (request_.exact_low_modes) report.seconds["low_modes"] = low_modes_.seconds;
  const std::size_t n_sources = sources_.entries().size();
  for (std::size_t k = 0; k < n_masses_; ++k)
    for (std::size_t source = 0; source < n_sources; ++source) {
      const SourceList::Entry& entry = sources_.entries()[source];
      const std::size_t first = k * sources_.size() + entry.first;
      SourceSummary summary{entry.name, int(first), int(entry.n), correlators_[k * n_sources + source], {}, {}};
      if (low_modes_.correlator && entry.request.has_all_colors())
        summary.pion_low_part = low_modes_.correlator->part(k, entry.request.spec);
      if (entry.is_noise() && request_.system == System::full) {
        summary.condensate = condensate_of(std::span(trace_).subspan(first, entry.n));
        if (low_modes_.trace) {
          summary.condensate->low_part = low_modes_.trace->part(mass(k), low_modes_.trace->norms2());
          summary.condensate->low_part_error = low_modes_.trace->error(mass(k));
        }
      }
      if (k == 0) report.source += (source ? "; " : "") + entry.name;
      report.sources.push_back(std::move(summary));
    }
  for (std::size_t i = 0; i < report.rhs.size(); ++i) {
    report.rhs[i].color = sources_.color(i % sources_.size());
    report.rhs[i].source = sources_.entries()[sources_.entry_of(i % sources_.size())].name;
  }
  if (report.sources.size() > 1) return;
  report.pion_correlator = report.sources[0].pion_correlator;
  report.pion_low_part = report.sources[0].pion_low_part;
  report.condensate = report.sources[0].condensate;
}

}  // namespace staghorn
