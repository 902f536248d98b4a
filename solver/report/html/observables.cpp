#include "solver/report/html/observables.hpp"

#include <algorithm>

#include "solver/report/html/line_plot.hpp"

namespace staghorn {

namespace {

using Json = nlohmann::ordered_json;

// What one source gave for one mass. Values that there are none of are null or empty.
struct Observed {
  std::string of;  // ", z2:7, m = 0.1": what tells it from others of the same report
  Json correlator, condensate;
};

std::string of_mass(const Json& mass) { return mass.is_null() ? "" : ", m = " + words_of(mass); }

std::vector<Observed> observed_in(const Json& solve) {
  std::vector<Observed> found;
  if (const Json sources = at(solve, "sources");
      sources.is_array()) {  // those of a mass follow those of the one before
    for (const Json& source : sources) {
      const Json& rhs = solve["rhs"].at(at(source, "first").get<std::size_t>());
      found.push_back({", " + words_of(at(source, "name")) + of_mass(at(rhs, "mass")), at(source, "pion_correlator"),
                       at(source, "condensate")});
    }
    return found;
  }
  const Json masses = at(solve, "masses"), correlators = at(solve, "pion_correlators"),
             condensates = at(solve, "condensates");
  if (!masses.is_array()) return {{"", at(solve, "pion_correlator"), at(solve, "condensate")}};
  for (std::size_t k = 0; k < masses.size(); ++k)
    found.push_back({of_mass(masses[k]), k < correlators.size() ? correlators[k] : Json(nullptr),
                     k < condensates.size() ? condensates[k] : Json(nullptr)});
  return found;
}

// "0.5527 +- 0.0021", without an error where there is one noise vector.
std::string with_error(const Json& condensate) {
  const std::string value = words_of(at(condensate, "value"));
  return at(condensate, "n_vectors") == 1 ? value : value + " +- " + words_of(at(condensate, "error"));
}

// Rows of one quantity: one for each source and mass that has a condensate in some report.
std::vector<Row> rows_of_condensates(const Reports& solves, const std::string& head,
                                     std::string (*words)(const Json&)) {
  std::vector<Row> rows;
  for (const ReadReport& solve : solves)
    for (const Observed& observed : observed_in(solve.json)) {
      const std::string of = observed.of;
      const bool known = std::any_of(rows.begin(), rows.end(), [&](const Row& row) { return row.head == head + of; });
      if (!observed.condensate.is_object() || known) continue;
      rows.push_back({head + of, [of, words](const Json& json) {
                        for (const Observed& candidate : observed_in(json))
                          if (candidate.of == of && candidate.condensate.is_object())
                            return words(candidate.condensate);
                        return std::string("-");
                      }});
    }
  return rows;
}

}  // namespace

std::string observables(const Reports& solves) {
  LinePlot plot{"t", "pion correlator", false, true, {}};
  for (std::size_t k = 0; k < solves.size(); ++k) {
    std::string label = solves[k].name;
    for (const Observed& observed : observed_in(solves[k].json)) {
      if (!observed.correlator.is_array() || observed.correlator.empty()) continue;
      PlotCurve curve{label, {}, int(k) % plot_colors};
      label.clear();
      for (const Json& value : observed.correlator)
        curve.points.push_back({double(curve.points.size()), value.get<double>()});
      plot.curves.push_back(std::move(curve));
    }
  }
  std::vector<Row> rows = rows_of_condensates(solves, "chiral condensate", with_error);
  for (Row& row : rows_of_condensates(
           solves, "noise vectors", +[](const Json& condensate) { return words_of(at(condensate, "n_vectors")); }))
    rows.push_back(std::move(row));
  return svg_of(plot) + side_by_side(solves, rows);
}

}  // namespace staghorn
