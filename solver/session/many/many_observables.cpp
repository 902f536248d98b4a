#include "solver/session/many/many_observables.hpp"

#include "solver/report/propagator_observables.hpp"

namespace staghorn {

ManyObservables::ManyObservables(const Communicator& communicator, const SourceList& sources, System system)
    : communicator_(communicator),
      sources_(sources),
      system_(system),
      site_norms2_(sources.size()),
      trace_(sources.size(), 0),
      correlators_(sources.entries().size()) {}

void ManyObservables::take(std::size_t rhs, const VectorField& solution) {
  if (system_ != System::full) return;
  const std::size_t number = sources_.entry_of(rhs);
  const SourceList::Entry& entry = sources_.entries()[number];
  if (entry.is_noise()) trace_[rhs] = trace_estimate(communicator_, sources_.make(rhs), solution);
  if (!entry.has_all_colors()) return;
  add_site_norms2(site_norms2_[rhs], solution);
  for (std::size_t color = 0; color < entry.n; ++color)
    if (site_norms2_[entry.first + color].empty()) return;
  std::vector<double> sum = std::move(site_norms2_[entry.first]);  // colours in order
  for (std::size_t color = 1; color < entry.n; ++color)
    for (std::size_t site = 0; site < sum.size(); ++site) sum[site] += site_norms2_[entry.first + color][site];
  correlators_[number] = time_slice_sums(communicator_, solution.lattice(), sum);
  for (std::size_t color = 0; color < entry.n; ++color) site_norms2_[entry.first + color] = {};
}

void ManyObservables::put_into(SolveReport& report) const {
  report.source.clear();
  for (std::size_t number = 0; number < sources_.entries().size(); ++number) {
    const SourceList::Entry& entry = sources_.entries()[number];
    SourceSummary summary{entry.name, int(entry.first), int(entry.n), correlators_[number], {}};
    if (entry.is_noise() && system_ == System::full)
      summary.condensate = condensate_of(std::span(trace_).subspan(entry.first, entry.n));
    report.source += (number ? "; " : "") + entry.name;
    report.sources.push_back(std::move(summary));
  }
  for (std::size_t i = 0; i < report.rhs.size(); ++i) {
    const std::size_t rhs = i % sources_.size();  // mass after mass
    report.rhs[i].color = sources_.color(rhs);
    report.rhs[i].source = sources_.entries()[sources_.entry_of(rhs)].name;
  }
  if (report.sources.size() > 1) return;
  report.pion_correlator = report.sources[0].pion_correlator;
  report.condensate = report.sources[0].condensate;
}

}  // namespace staghorn
