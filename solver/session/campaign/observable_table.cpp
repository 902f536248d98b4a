#include "solver/session/campaign/observable_table.hpp"

#include <algorithm>
#include <ostream>

#include "lattice_io/files/header_text.hpp"
#include "solver/request/words/formatted.hpp"

namespace staghorn {

namespace {

constexpr std::size_t most_columns = 12, beside_each_other = 4, most_condensates = 24;

void print_condensate(std::ostream& out, const CondensateEstimate& condensate, const std::string& of) {
  const std::string exact = condensate.low_part ? format(", %.8g of low modes exact", *condensate.low_part) : "";
  out << format("  Tr M^-1 / V = %.8g +- %.2g  (%d noise vector%s%s%s)\n", condensate.value, condensate.error,
                condensate.n_vectors, condensate.n_vectors == 1 ? "" : "s", exact.c_str(),
                of.empty() ? "" : (", " + of).c_str());
}

// "m = 0.05, wall:0", without what is the same for all.
std::string title_of(const SolveReport& report, std::size_t mass, const std::string& source) {
  std::string title = report.request.masses.empty() ? "" : "m = " + shortest_digits(report.request.masses[mass]);
  if (!source.empty()) title += (title.empty() ? "" : ", ") + source;
  return title;
}

}  // namespace

void print_correlators(std::ostream& out, const std::vector<CorrelatorColumn>& columns) {
  const std::size_t shown = std::min(columns.size(), most_columns);
  for (std::size_t first = 0; first < shown; first += beside_each_other) {
    const std::size_t last = std::min(first + beside_each_other, shown);
    out << "  pion correlator\n     t";
    for (std::size_t k = first; k < last; ++k) out << format("  %26.26s", columns[k].title.c_str());
    out << "\n";
    for (std::size_t t = 0; t < columns[first].values.size(); ++t) {
      out << format("  %4zu", t);
      for (std::size_t k = first; k < last; ++k)
        out << (columns[k].errors.empty() ? format("  %26.10e", columns[k].values[t])
                                          : format("  %14.6e +- %8.2e", columns[k].values[t], columns[k].errors[t]));
      out << "\n";
    }
  }
  if (shown < columns.size()) out << "  and " << columns.size() - shown << " correlators more, in the report\n";
}

void print_observables(std::ostream& out, const SolveReport& report) {
  std::vector<CorrelatorColumn> columns;
  std::size_t with_low_part = 0;  // of these: all or none
  std::vector<std::pair<CondensateEstimate, std::string>> condensates;
  const std::size_t n_masses = std::max<std::size_t>(report.request.masses.size(), 1);
  if (!report.sources.empty()) {
    const std::size_t n_sources = report.sources.size() / n_masses;
    for (std::size_t i = 0; i < report.sources.size(); ++i) {
      const SourceSummary& source = report.sources[i];
      const std::string title = title_of(report, i / n_sources, source.name);
      if (!source.pion_correlator.empty()) columns.push_back({title, source.pion_correlator, {}});
      with_low_part += !source.pion_low_part.empty();
      if (source.condensate) condensates.emplace_back(*source.condensate, title);
    }
  } else {
    if (!report.pion_correlator.empty()) columns.push_back({report.source, report.pion_correlator, {}});
    with_low_part = !report.pion_low_part.empty() + report.pion_low_parts.size();
    if (report.condensate) condensates.emplace_back(*report.condensate, "");
    for (std::size_t k = 0; k < report.pion_correlators.size(); ++k)
      columns.push_back({title_of(report, k, report.source), report.pion_correlators[k], {}});
    for (std::size_t k = 0; k < report.condensates.size(); ++k)
      condensates.emplace_back(report.condensates[k], title_of(report, k, ""));
  }
  print_correlators(out, columns);
  if (with_low_part > 0)
    out << "  low modes averaged over all translates in " << with_low_part
        << (with_low_part == 1 ? " correlator\n" : " correlators\n");
  const std::size_t shown = std::min(condensates.size(), most_condensates);
  for (std::size_t i = 0; i < shown; ++i) print_condensate(out, condensates[i].first, condensates[i].second);
  if (shown < condensates.size()) out << "  and " << condensates.size() - shown << " condensates more, in the report\n";
}

}  // namespace staghorn
