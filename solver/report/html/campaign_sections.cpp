// Campaigns on a page: means with errors first, a line for each configuration, and certificates to unfold.
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>

#include "solver/report/html/line_plot.hpp"
#include "solver/report/html/report_sections.hpp"
#include "solver/request/words/formatted.hpp"

namespace staghorn {

namespace {

using Json = nlohmann::ordered_json;

// [configuration][t], or [configuration][0] of a mean.
using Samples = std::vector<std::vector<double>>;

// What certified configurations have of an observable, by mass and source in the order of the campaign.
std::vector<std::pair<std::string, Samples>> samples_of(const Json& campaign, const ObservableKind& kind) {
  const Json &masses = campaign["campaign"]["masses"], &names = campaign["campaign"]["sources"];
  std::vector<std::pair<std::string, Samples>> found;
  for (std::size_t s = 0; s < names.size(); ++s)
    for (std::size_t m = 0; m < masses.size(); ++m) {
      Samples samples;
      for (const Json& part : campaign["configurations"]) {
        if (at(part, "outcome") != "certified") continue;
        const Json value = at(part["report"]["sources"].at(m * names.size() + s), kind.name);
        if (value.empty()) continue;
        samples.push_back(kind.form == ObservableKind::curve ? value.get<std::vector<double>>()
                                                             : std::vector{at(value, "value").get<double>()});
      }
      if (!samples.empty())
        found.emplace_back("m = " + words_of(masses[m]) + ", " + words_of(names[s]), std::move(samples));
    }
  return found;
}

std::vector<double> mean_without(const Samples& samples, std::size_t left_out) {
  std::vector<double> mean(samples[0].size(), 0.0);
  const double n = double(samples.size() - (left_out < samples.size() ? 1 : 0));
  for (std::size_t k = 0; k < samples.size(); ++k)
    for (std::size_t t = 0; k != left_out && t < mean.size(); ++t) mean[t] += samples[k].at(t) / n;
  return mean;
}

// function(mean) with the errors of a jackknife over configurations; errors are empty for one configuration.
template <class Function>
std::pair<std::vector<double>, std::vector<double>> jackknife(const Samples& samples, const Function& function) {
  const std::size_t n = samples.size();
  std::pair<std::vector<double>, std::vector<double>> found{function(mean_without(samples, n)), {}};
  if (n < 2) return found;
  std::vector<std::vector<double>> left_out;
  for (std::size_t k = 0; k < n; ++k) left_out.push_back(function(mean_without(samples, k)));
  for (std::size_t t = 0; t < found.first.size(); ++t) {
    double mean = 0, squares = 0;
    for (const auto& one : left_out) mean += one[t] / double(n);
    for (const auto& one : left_out) squares += (one[t] - mean) * (one[t] - mean);
    found.second.push_back(std::sqrt(double(n - 1) / double(n) * squares));
  }
  return found;
}

std::vector<double> itself(std::vector<double> mean) { return mean; }

// cosh m(t) = (C(t-1) + C(t+1)) / (2 C(t)) of the folded curve, t = 1 ... T/2 - 1
std::vector<double> effective_mass(const std::vector<double>& mean) {
  const std::size_t extent = mean.size(), half = extent / 2;
  std::vector<double> folded, masses;
  for (std::size_t t = 0; t <= half; ++t) folded.push_back((mean[t] + mean[(extent - t) % extent]) / 2);
  for (std::size_t t = 1; t < half; ++t)
    masses.push_back(std::acosh((folded[t - 1] + folded[t + 1]) / (2 * folded[t])));
  return masses;
}

template <class Function>
std::string plot_of(const std::vector<std::pair<std::string, Samples>>& all, LinePlot plot, double first,
                    const Function& function) {
  for (const auto& [label, samples] : all) {
    PlotCurve curve{label, {}, int(plot.curves.size()) % plot_colors, PlotCurve::Style::line, {}};
    const auto [values, errors] = jackknife(samples, function);
    for (std::size_t t = 0; t < values.size(); ++t) curve.points.emplace_back(first + double(t), values[t]);
    curve.errors = errors;
    plot.curves.push_back(std::move(curve));
  }
  return svg_of(plot);
}

std::string means_of(const ReadReport& campaign, std::span<const ObservableKind> kinds) {
  std::string plots, rows;
  std::size_t correlators = 0;
  for (const ObservableKind& kind : kinds) {
    if (kind.form == ObservableKind::correlators) {
      for (const Json& part : campaign.json["configurations"])
        if (const Json list = at(part, std::string("report/") + kind.name); list.is_array())
          correlators = std::max(correlators, list.size());
      continue;
    }
    const auto all = samples_of(campaign.json, kind);
    if (all.empty()) continue;
    if (kind.form == ObservableKind::curve) {
      plots += plot_of(all, {"t", kind.title, false, true, {}}, 0, itself);
      plots +=
          plot_of(all, {"t", std::string("effective mass of the ") + kind.title, false, false, {}}, 1, effective_mass);
      continue;
    }
    for (const auto& [label, samples] : all) {
      const auto [value, error] = jackknife(samples, itself);
      rows += "<tr>" + cell(std::string(kind.title) + ", " + label, "th") +
              cell(words_of(Json(value[0])) + (error.empty() ? "" : " +- " + format("%.2g", error[0]))) +
              cell(std::to_string(samples.size())) + "</tr>\n";
    }
  }
  if (!rows.empty()) rows = table("<tr><th></th><th>mean and error</th><th>configurations</th></tr>\n" + rows);
  if (correlators > 0)
    plots += "<p>" + std::to_string(correlators) + " mesons of each configuration are in the JSON of this page.</p>\n";
  return rows + plots;
}

std::string configurations_of(const ReadReport& campaign) {
  std::string rows =
      "<tr><th>configuration</th><th>outcome</th><th>plaquette</th><th>right-hand sides</th><th>iterations</th>"
      "<th>largest recomputed residual</th><th>seconds</th></tr>\n";
  for (const Json& part : campaign.json["configurations"]) {
    long iterations = 0;
    double residual = 0;
    const Json rhs = at(part, "report/rhs");
    for (const Json& one : rhs) {
      iterations += at(one, "iterations").get<long>();
      residual = std::max(residual, at(one, "residual_true").get<double>());
    }
    rows += "<tr>" + cell(std::filesystem::path(words_of(at(part, "gauge"))).filename().string(), "th") +
            cell(words_of(at(part, "outcome")));
    if (rhs.is_null())
      rows += cell("-") + cell("-") + cell("-") + cell("-");
    else
      rows += cell(words_of(at(part, "report/gauge/plaquette"))) + cell(std::to_string(rhs.size())) +
              cell(std::to_string(iterations)) + cell(words_of(Json(residual)));
    rows += cell(words_of(at(part, "seconds"))) + "</tr>\n";
  }
  return table(rows);
}

std::string unfolded(const ReadReport& campaign) {
  std::string certificates;
  for (const ReadReport& part : parts_of(campaign)) certificates += certificate(part);
  if (certificates.empty()) return "";
  return "<details><summary>Certificates of all right-hand sides</summary>\n" + certificates + "</details>\n";
}

}  // namespace

std::string campaign_means(const Reports& campaigns, std::span<const ObservableKind> kinds) {
  std::string text;
  for (const ReadReport& campaign : campaigns)
    if (const std::string means = means_of(campaign, kinds); !means.empty())
      text += "<h3>" + html_text(campaign.name) + "</h3>\n" + means;
  return text;
}

std::string campaign_configurations(const Reports& campaigns) {
  std::string text;
  for (const ReadReport& campaign : campaigns)
    text += "<h3>" + html_text(campaign.name) + "</h3>\n" + configurations_of(campaign) + unfolded(campaign);
  return text;
}

}  // namespace staghorn
