#include "solver/report/html/report_words.hpp"

#include <cmath>
#include <cstdio>
#include <filesystem>

#include "dirac/stencil/hop_cost.hpp"
#include "halo/watch/error.hpp"
#include "solver/json/json_text.hpp"
#include "solver/report/solve_report.hpp"

namespace staghorn {

using Json = nlohmann::ordered_json;

ReadReport read_report(const NamedReport& report) {
  constexpr const char* expected = "a report of staghorn solve, eigen or bench, in JSON";
  Json json = json_of_text(report.name, report.json, expected);
  if (!json.is_object()) throw FileError(report.name, expected, std::string("JSON that is ") + json.type_name());
  const Json version = at(json, "schema_version");
  if (version.is_number() && version != SolveReport::schema_version)
    throw FileError(report.name, "schema_version " + std::to_string(SolveReport::schema_version),
                    text_of_json(version, -1));
  const auto has = [&](const char* key, bool (Json::*is)() const noexcept) {
    return json.contains(key) && (json[key].*is)();
  };
  if (has("provenance", &Json::is_object)) {
    if (has("rhs", &Json::is_array) && has("outcome", &Json::is_string) && has("tolerance", &Json::is_number))
      return {ReadReport::Kind::solve, report.name, std::move(json)};
    if (has("eigenvalues", &Json::is_array) && has("outcome", &Json::is_string))
      return {ReadReport::Kind::eigen, report.name, std::move(json)};
    if (has("results", &Json::is_array) && has("what", &Json::is_string))
      return {ReadReport::Kind::bench, report.name, std::move(json)};
  }
  if (has("campaign", &Json::is_object) && has("configurations", &Json::is_array) && has("outcome", &Json::is_string))
    return {ReadReport::Kind::campaign, report.name, std::move(json)};
  throw FileError(report.name, expected, "JSON with other keys");
}

std::vector<ReadReport> parts_of(const ReadReport& campaign) {
  std::vector<ReadReport> parts;
  for (const Json& configuration : campaign.json["configurations"]) {
    if (!at(configuration, "report").is_object()) continue;
    const std::string name = std::filesystem::path(words_of(at(configuration, "gauge"))).filename().string();
    parts.push_back(read_report({name, text_of_json(configuration["report"], -1)}));
    parts.back().is_part = true;
  }
  return parts;
}

std::string words_of(const Json& value) {
  if (value.is_null()) return "-";
  if (value.is_string()) return value.get<std::string>();
  if (value.is_boolean()) return value.get<bool>() ? "yes" : "no";
  if (value.is_number_float()) {
    char text[40];
    std::snprintf(text, sizeof text, "%.6g", value.get<double>());
    return text;
  }
  if (value.is_array()) {
    std::string text;
    for (const Json& one : value) text += (text.empty() ? "" : one.is_number_integer() ? "x" : ", ") + words_of(one);
    return text.empty() ? "-" : text;
  }
  return text_of_json(value, -1);
}

Json at(const Json& json, const std::string& path) {
  const Json::json_pointer pointer("/" + path);
  return json.contains(pointer) ? json.at(pointer) : Json(nullptr);
}

double least_traffic(const Json& solve) {
  const std::string solver = words_of(at(solve, "solver"));
  if ((solver != "cg" && solver != "mixed") || words_of(at(solve, "action")) != "naive" || solve.contains("masses") ||
      solve.contains("batch") || solve["rhs"].empty())
    return 0;
  const bool mixed = solve.contains("sloppy");
  const Precision precision = parse_kernel_precision(words_of(at(solve, mixed ? "sloppy" : "precision")));
  const Reconstruct links = parse_reconstruct(words_of(at(solve, mixed ? "sloppy_links" : "links")));
  const int n = int(solve["rhs"].size());
  const double iterations = at(solve, "site_iterations_per_second").get<double>() / n;  // times sites of the lattice
  const HopCost cost = hop_cost(precision, links, n);
  return iterations / 2 * (cost.hop_with_beta() + cost.residual_with_beta() + cost.growth() / 2) * 1e-9;
}

}  // namespace staghorn
