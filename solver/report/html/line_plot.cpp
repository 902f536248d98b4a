#include "solver/report/html/line_plot.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "lattice_io/content/utf8_text.hpp"
#include "solver/request/words/formatted.hpp"

namespace staghorn {

namespace {

constexpr double width = 720, height = 340, left = 70, right = 12, top = 12, bottom = 44;
constexpr std::size_t most_points = 1200;  // of a curve

// An axis from values to pixels.
class Axis {
 public:
  Axis(bool log, double from_pixel, double to_pixel) : log_(log), from_(from_pixel), to_(to_pixel) {}

  bool shows(double value) const { return std::isfinite(value) && (!log_ || value > 0); }
  void include(double value) {
    low_ = std::min(low_, scaled(value));
    high_ = std::max(high_, scaled(value));
  }
  bool empty() const { return low_ > high_; }
  void settle() {
    if (log_) {
      low_ = std::floor(low_ - 1e-9);
      high_ = std::ceil(high_ + 1e-9);
    }
    if (high_ <= low_) high_ = low_ + 1;
  }
  double pixel(double value) const { return from_ + (scaled(value) - low_) / (high_ - low_) * (to_ - from_); }

  // Values with a tick: decades, or round steps.
  std::vector<double> ticks() const {
    std::vector<double> found;
    const double range = high_ - low_;
    double step = std::pow(10, std::floor(std::log10(range / 4)));
    if (range / step > 25) step *= 5;
    if (range / step > 10) step *= 2;
    if (log_) step = std::max(1.0, std::ceil(range / 8));
    for (double at = std::ceil(low_ / step - 1e-9) * step; at <= high_ + 1e-9 * range; at += step)
      found.push_back(log_ ? std::pow(10, at) : at == 0 ? 0 : at);  // never -0
    return found;
  }

 private:
  double scaled(double value) const { return log_ ? std::log10(value) : value; }

  bool log_;
  double from_, to_;
  double low_ = std::numeric_limits<double>::infinity(), high_ = -low_;
};

// Of each stretch of a long curve the lowest and the highest point, in their order.
std::vector<std::pair<double, double>> thinned(const std::vector<std::pair<double, double>>& points) {
  if (points.size() <= most_points) return points;
  std::vector<std::pair<double, double>> kept{points.front()};
  const std::size_t stretch = 2 * points.size() / most_points + 1;
  for (std::size_t begin = 0; begin < points.size(); begin += stretch) {
    const auto first = points.begin() + long(begin),
               last = points.begin() + long(std::min(begin + stretch, points.size()));
    auto [low, high] =
        std::minmax_element(first, last, [](const auto& a, const auto& b) { return a.second < b.second; });
    if (high < low) std::swap(low, high);
    kept.push_back(*low);
    if (high != low) kept.push_back(*high);
  }
  kept.push_back(points.back());
  return kept;
}

std::string drawn(const PlotCurve& curve, const Axis& x, const Axis& y) {
  std::string text;
  if (curve.style == PlotCurve::Style::marks) {
    for (const auto& [a, b] : curve.points)
      if (x.shows(a) && y.shows(b))
        text += format("<path class=\"mark c%d\" d=\"M%.1f %.1fl8 8m0-8l-8 8\"/>", curve.color, x.pixel(a) - 4,
                       y.pixel(b) - 4);
    return text + "\n";
  }
  std::string path;
  bool pen_up = true;
  for (const auto& [a, b] : thinned(curve.points)) {
    const bool shown = x.shows(a) && y.shows(b);
    if (shown) path += format("%s%.1f %.1f", pen_up ? "M" : "L", x.pixel(a), y.pixel(b));
    pen_up = !shown;
  }
  for (std::size_t k = 0; k < std::min(curve.errors.size(), curve.points.size()); ++k) {
    const auto& [a, b] = curve.points[k];
    const double low = b - curve.errors[k], high = b + curve.errors[k];
    if (x.shows(a) && y.shows(b) && y.shows(high))
      path += format("M%.1f %.1fV%.1f", x.pixel(a), y.pixel(y.shows(low) ? low : b), y.pixel(high));
  }
  if (path.empty()) return "";
  return format("<path class=\"line c%d%s\" d=\"", curve.color,
                curve.style == PlotCurve::Style::dashed ? " dashed" : "") +
         path + "\"/>\n";
}

std::string legend(const std::vector<PlotCurve>& curves) {
  std::string text;
  for (const PlotCurve& curve : curves)
    if (!curve.label.empty())
      text += format("<span class=\"key\"><i class=\"c%d\"></i>", curve.color) + html_text(curve.label) + "</span>\n";
  return text.empty() ? "" : "<p class=\"legend\">" + text + "</p>\n";
}

}  // namespace

std::string html_text(const std::string& text) {
  std::string safe;
  for (const char c : utf8_text(text)) {
    switch (c) {
      case '&':
        safe += "&amp;";
        break;
      case '<':
        safe += "&lt;";
        break;
      case '>':
        safe += "&gt;";
        break;
      case '"':
        safe += "&quot;";
        break;
      default:
        safe += c;
    }
  }
  return safe;
}

std::string svg_of(const LinePlot& plot) {
  Axis x(plot.log_across, left, width - right), y(plot.log_up, height - bottom, top);
  for (const PlotCurve& curve : plot.curves)
    for (std::size_t k = 0; k < curve.points.size(); ++k) {
      const auto& [a, b] = curve.points[k];
      if (!x.shows(a) || !y.shows(b)) continue;
      x.include(a);
      for (const double sign : {-1.0, 0.0, 1.0})
        if (const double end = b + sign * (k < curve.errors.size() ? curve.errors[k] : 0); y.shows(end)) y.include(end);
    }
  if (x.empty()) return "";
  x.settle();
  y.settle();
  std::string svg = format("<svg viewBox=\"0 0 %g %g\" role=\"img\" aria-label=\"", width, height) +
                    html_text(plot.up + " over " + plot.across) + "\">\n";
  for (const double value : x.ticks())
    svg += format("<path class=\"grid\" d=\"M%.1f %gV%g\"/><text x=\"%.1f\" y=\"%g\" class=\"middle\">%g</text>\n",
                  x.pixel(value), top, height - bottom, x.pixel(value), height - bottom + 16, value);
  for (const double value : y.ticks())
    svg += format("<path class=\"grid\" d=\"M%g %.1fH%g\"/><text x=\"%g\" y=\"%.1f\" class=\"end\">%.3g</text>\n", left,
                  y.pixel(value), width - right, left - 6, y.pixel(value) + 4, value);
  svg += format("<text x=\"%g\" y=\"%g\" class=\"middle\">", (left + width - right) / 2, height - 8) +
         html_text(plot.across) + "</text>\n";
  svg += format("<text x=\"14\" y=\"%g\" class=\"middle\" transform=\"rotate(-90 14 %g)\">",
                (top + height - bottom) / 2, (top + height - bottom) / 2) +
         html_text(plot.up) + "</text>\n";
  for (const PlotCurve& curve : plot.curves) svg += drawn(curve, x, y);
  return "<figure>" + svg + "</svg>\n" + legend(plot.curves) + "</figure>\n";
}

}  // namespace staghorn
