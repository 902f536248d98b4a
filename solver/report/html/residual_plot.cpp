#include <algorithm>
#include <cmath>
#include <set>

#include "solver/report/html/line_plot.hpp"
#include "solver/report/html/report_sections.hpp"

namespace staghorn {

using Json = nlohmann::ordered_json;

std::string residual_plot(const Reports& solves) {
  LinePlot plot{"iteration", "relative residual", false, true, {}};
  std::set<double> tolerances;
  double last = 1;
  bool divided = false;
  for (std::size_t k = 0; k < solves.size(); ++k) {
    const int color = int(k) % plot_colors;
    std::string label = solves[k].name;
    for (const Json& rhs : solves[k].json["rhs"]) {
      const Json history = at(rhs, "history");
      if (!history.is_array() || history.empty()) continue;
      PlotCurve curve{label, {}, color}, end{"", {}, color, PlotCurve::Style::marks};
      label.clear();
      const double first = history[0].is_number() ? history[0].get<double>() : 1;
      const double start = first > 1 + 1e-6 ? first : 1;
      divided = divided || start > 1;
      tolerances.insert(solves[k].json["tolerance"].get<double>() / start);
      for (const Json& value : history)
        curve.points.push_back({double(curve.points.size()), value.is_number() ? value.get<double>() / start : NAN});
      if (at(rhs, "residual_true").is_number())
        end.points = {{double(curve.points.size() - 1), rhs["residual_true"].get<double>() / start}};
      last = std::max(last, double(curve.points.size()) - 1);
      plot.curves.push_back(std::move(curve));
      plot.curves.push_back(std::move(end));
    }
  }
  for (const double tolerance : tolerances)
    plot.curves.push_back({"", {{0, tolerance}, {last, tolerance}}, 0, PlotCurve::Style::dashed});
  const std::string svg = svg_of(plot);
  if (svg.empty()) return "";
  return svg + "<p>Crosses: recomputed in fp64. Dashed: tolerance." +
         (divided ? " A curve that would begin above 1, as that of noise, is divided by its first value, and so is its "
                    "tolerance."
                  : "") +
         "</p>\n";
}

}  // namespace staghorn
