#include "solver/session/campaign/printed_observables.hpp"

#include <algorithm>
#include <ostream>

#include "lattice_io/files/header_text.hpp"
#include "solver/request/words/formatted.hpp"

namespace staghorn {

namespace {

constexpr std::size_t most_columns = 12, beside_each_other = 4, most_means = 24;

void print_mean(std::ostream& out, const Observable& observable, const std::string& of) {
  const MeanAndError mean = mean_of(observable.values);
  const std::size_t n = observable.values.size();
  const std::string exact =
      observable.low_part.empty() ? "" : format(", %.8g of low modes exact", observable.low_part[0]);
  const std::string error = n == 1 ? "" : format(" +- %.2g", mean.error);
  out << format("  %s = %.8g%s  (%zu noise vector%s%s%s)\n", observable.kind->symbol, mean.value, error.c_str(), n,
                n == 1 ? "" : "s", exact.c_str(), of.empty() ? "" : (", " + of).c_str());
}

// "m = 0.05, wall:0", without what is the same for all.
std::string title_of(const SolveReport& report, std::size_t mass, const std::string& source) {
  std::string title = report.request.masses.empty() ? "" : "m = " + shortest_digits(report.request.masses[mass]);
  if (!source.empty()) title += (title.empty() ? "" : ", ") + source;
  return title;
}

std::vector<CurveColumn> real_parts(const SolveReport& report, const ObservableKind& kind) {
  std::vector<CurveColumn> columns;
  for (const Observable& observable : report.observables)
    for (const Correlator& one : observable.correlators) {
      if (observable.kind != &kind) continue;
      CurveColumn column{one.name, {}, {}};
      if (const auto& meson = one.meson; meson && meson->momentum != std::array{0, 0, 0})
        column.title += format(" p%d%d%d", meson->momentum[0], meson->momentum[1], meson->momentum[2]);
      const char* before = " ";
      for (const std::size_t mass : one.masses) {
        if (report.request.masses.size() > 1) column.title += before + shortest_digits(report.request.masses[mass]);
        before = "/";
      }
      for (const std::array<double, 2>& value : one.values) column.values.push_back(value[0]);
      columns.push_back(std::move(column));
    }
  return columns;
}

}  // namespace

void print_curves(std::ostream& out, const ObservableKind& kind, const std::vector<CurveColumn>& columns) {
  const std::size_t shown = std::min(columns.size(), most_columns);
  for (std::size_t first = 0; first < shown; first += beside_each_other) {
    const std::size_t last = std::min(first + beside_each_other, shown);
    out << "  " << kind.title << "\n     t";
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
  if (shown < columns.size()) out << "  and " << columns.size() - shown << " more, in the report\n";
}

void print_observables(std::ostream& out, const SolveReport& report) {
  std::vector<const ObservableKind*> kinds;
  for (const Observable& observable : report.observables)
    if (observable.mass == 0 && observable.source == 0) kinds.push_back(observable.kind);
  for (const ObservableKind* kind : kinds) {
    if (kind->form == ObservableKind::correlators) {
      print_curves(out, *kind, real_parts(report, *kind));
      continue;
    }
    std::vector<const Observable*> given;
    for (const Observable& observable : report.observables)
      if (observable.kind == kind && !observable.values.empty()) given.push_back(&observable);
    const auto name_of = [&](const Observable& observable, const std::string& only) {
      return title_of(report, observable.mass, report.sources.empty() ? only : report.sources[observable.source].name);
    };
    if (kind->form == ObservableKind::curve) {
      std::vector<CurveColumn> columns;
      for (const Observable* one : given) columns.push_back({name_of(*one, report.source), one->values, {}});
      print_curves(out, *kind, columns);
      const auto exact = std::count_if(given.begin(), given.end(), [](auto* one) { return !one->low_part.empty(); });
      if (exact > 0)
        out << "  low modes averaged over all translates in " << exact
            << (exact == 1 ? " correlator\n" : " correlators\n");
      continue;
    }
    const std::size_t shown = std::min(given.size(), most_means);
    for (std::size_t i = 0; i < shown; ++i) print_mean(out, *given[i], name_of(*given[i], ""));
    if (shown < given.size()) out << "  and " << given.size() - shown << " more, in the report\n";
  }
}

}  // namespace staghorn
