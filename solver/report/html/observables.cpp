#include <algorithm>
#include <cmath>

#include "solver/report/html/line_plot.hpp"
#include "solver/report/html/report_sections.hpp"

namespace staghorn {

namespace {

using Json = nlohmann::ordered_json;

// One observable of one source and mass.
struct Observed {
  std::string of;  // ", z2:7, m = 0.1": what tells it from others of the same report
  Json value;      // null or empty: none
};

std::string of_mass(const Json& mass) { return mass.is_null() ? "" : ", m = " + words_of(mass); }

std::vector<Observed> observed_in(const Json& solve, const std::string& name) {
  std::vector<Observed> found;
  if (const Json sources = at(solve, "sources");
      sources.is_array()) {  // those of a mass follow those of the one before
    for (const Json& source : sources) {
      const Json& rhs = solve["rhs"].at(at(source, "first").get<std::size_t>());
      found.push_back({", " + words_of(at(source, "name")) + of_mass(at(rhs, "mass")), at(source, name)});
    }
    return found;
  }
  const Json masses = at(solve, "masses"), values = at(solve, name + "s");
  if (!masses.is_array()) return {{"", at(solve, name)}};
  for (std::size_t k = 0; k < masses.size(); ++k)
    found.push_back({of_mass(masses[k]), k < values.size() ? values[k] : Json(nullptr)});
  return found;
}

// "0.5527 +- 0.0021", without an error where there is one noise vector.
std::string with_error(const Json& mean) {
  const std::string value = words_of(at(mean, "value"));
  return at(mean, "n_vectors") == 1 ? value : value + " +- " + words_of(at(mean, "error"));
}

// Rows of one mean: one for each source and mass that has it in some report.
std::vector<Row> rows_of_means(const Reports& solves, const std::string& name, const std::string& head,
                               std::string (*words)(const Json&)) {
  std::vector<Row> rows;
  for (const ReadReport& solve : solves)
    for (const Observed& observed : observed_in(solve.json, name)) {
      const std::string of = observed.of;
      const bool known = std::any_of(rows.begin(), rows.end(), [&](const Row& row) { return row.head == head + of; });
      if (!observed.value.is_object() || known) continue;
      rows.push_back({head + of, [of, name, words](const Json& json) {
                        for (const Observed& candidate : observed_in(json, name))
                          if (candidate.of == of && candidate.value.is_object()) return words(candidate.value);
                        return std::string("-");
                      }});
    }
  return rows;
}

std::string plot_of_curves(const Reports& solves, const ObservableKind& kind) {
  LinePlot plot{"t", kind.title, false, true, {}};
  for (std::size_t k = 0; k < solves.size(); ++k) {
    std::string label = solves[k].name;
    for (const Observed& observed : observed_in(solves[k].json, kind.name)) {
      if (!observed.value.is_array() || observed.value.empty()) continue;
      PlotCurve curve{label, {}, int(k) % plot_colors};
      label.clear();
      for (const Json& value : observed.value)
        curve.points.push_back({double(curve.points.size()), value.get<double>()});
      plot.curves.push_back(std::move(curve));
    }
  }
  return svg_of(plot);
}

// "rhox p100, m = 0.1/0.2, wall:0"
std::string name_of(const Json& correlator) {
  std::string name = words_of(at(correlator, "name"));
  const Json momentum = at(correlator, "momentum");
  if (momentum.is_array() && momentum != Json{0, 0, 0}) {
    name += " p";
    for (const Json& component : momentum) name += words_of(component);
  }
  std::string masses;
  for (const Json& mass : at(correlator, "masses")) masses += (masses.empty() ? "" : "/") + words_of(mass);
  return name + ", m = " + masses + ", " + words_of(at(correlator, "source"));
}

// The first mesons or baryons of each report, as many as there are colours: there may be hundreds.
std::string plot_of_correlators(const Reports& solves, const ObservableKind& kind) {
  std::string plots;
  for (const ReadReport& solve : solves) {
    const Json list = at(solve.json, kind.name);
    if (!list.is_array() || list.empty()) continue;
    const std::size_t shown = std::min<std::size_t>(list.size(), plot_colors);
    LinePlot plot{"t", std::string("|") + kind.symbol + "|", false, true, {}};
    for (std::size_t k = 0; k < shown; ++k) {
      PlotCurve curve{name_of(list[k]), {}, int(k)};
      for (const Json& value : at(list[k], "values"))
        curve.points.push_back(
            {double(curve.points.size()), std::hypot(value.at(0).get<double>(), value.at(1).get<double>())});
      plot.curves.push_back(std::move(curve));
    }
    plots += "<p>" + html_text(solve.name) + ": " + std::to_string(shown) + " of " + std::to_string(list.size()) + " " +
             kind.title + "</p>" + svg_of(plot);
  }
  return plots;
}

}  // namespace

std::string observables(const Reports& solves, std::span<const ObservableKind> kinds) {
  std::string plots;
  std::vector<Row> rows;
  for (const ObservableKind& kind : kinds) {
    if (kind.form == ObservableKind::curve) {
      plots += plot_of_curves(solves, kind);
      continue;
    }
    if (kind.form == ObservableKind::correlators) {
      plots += plot_of_correlators(solves, kind);
      continue;
    }
    for (Row& row : rows_of_means(solves, kind.name, kind.title, with_error)) rows.push_back(std::move(row));
    for (Row& row : rows_of_means(
             solves, kind.name, "noise vectors", +[](const Json& mean) { return words_of(at(mean, "n_vectors")); }))
      rows.push_back(std::move(row));
  }
  return plots + side_by_side(solves, rows);
}

}  // namespace staghorn
