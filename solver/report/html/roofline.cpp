#include <algorithm>
#include <cmath>

#include "solver/report/html/line_plot.hpp"
#include "solver/report/html/report_sections.hpp"

namespace staghorn {

using Json = nlohmann::ordered_json;

std::string roofline(const Reports& benches) {
  std::string text;
  LinePlot plot{"flop per byte of minimal traffic", "GF/s", true, true, {}};
  for (std::size_t k = 0; k < benches.size(); ++k) {
    const Json& json = benches[k].json;
    const double stream = at(json, "stream_read_gb_s").get<double>();
    std::string rows =
        "<tr><th>what</th><th>precision</th><th>links</th><th>rhs</th><th>us</th><th>GF/s</th><th>GB/s</th>"
        "<th>of the stream</th><th></th></tr>\n";
    PlotCurve marks{benches[k].name, {}, int(k) % plot_colors, PlotCurve::Style::marks};
    double low = INFINITY, high = 0;
    for (const Json& result : json["results"]) {
      const double gflops = at(result, "gflops").get<double>(), rate = at(result, "gb_s").get<double>();
      rows += "<tr>" + cell(words_of(at(result, "what")), "th");
      for (const char* key : {"precision", "links", "rhs", "microseconds", "gflops", "gb_s"})
        rows += cell(words_of(at(result, key)));
      rows += cell(words_of(Json(100 * at(result, "fraction_of_stream").get<double>())) + " %") +
              cell(at(result, "in_cache") == true ? "of a cache" : "") + "</tr>\n";
      if (gflops <= 0 || rate <= 0) continue;
      marks.points.push_back({gflops / rate, gflops});
      low = std::min(low, gflops / rate);
      high = std::max(high, gflops / rate);
    }
    text += "<h3>" + html_text(benches[k].name) + ": streaming read " + words_of(Json(stream)) + " GB/s</h3>\n" +
            table(rows);
    if (high > 0)
      plot.curves.push_back({"", {{low / 1.5, stream * low / 1.5}, {high * 1.5, stream * high * 1.5}}, marks.color});
    plot.curves.push_back(std::move(marks));
  }
  const std::string svg = svg_of(plot);
  return (svg.empty() ? "" : svg + "<p>Lines: the streaming read. Crosses: kernels.</p>\n") + text;
}

}  // namespace staghorn
