// A small line plot as inline SVG: axes, ticks, curves, marks, a legend. No script, no fonts of its own. Local.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace staghorn {

struct PlotCurve {
  std::string label;  // in the legend; "": not there
  std::vector<std::pair<double, double>> points;
  int color = 0;  // number of a colour of the page: the class c0, c1, ...
  enum class Style { line, dashed, marks } style = Style::line;
  std::vector<double> errors{};  // of the points, as bars; empty: none
};

struct LinePlot {
  std::string across, up;  // what the axes show
  bool log_across = false, log_up = true;
  std::vector<PlotCurve> curves;
};

inline constexpr int plot_colors = 6;

// The SVG element. Points that are not finite, or not positive on a logarithmic axis, are left out; long curves are
// drawn by their extremes. "" where nothing can be drawn.
std::string svg_of(const LinePlot& plot);

// `text` with the characters that mean something in HTML as entities.
std::string html_text(const std::string& text);

}  // namespace staghorn
