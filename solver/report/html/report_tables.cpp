#include "solver/report/html/report_tables.hpp"

#include <cmath>
#include <filesystem>
#include <set>

#include "dirac/stencil/hop_cost.hpp"
#include "halo/watch/error.hpp"
#include "solver/json/json_text.hpp"
#include "solver/report/html/line_plot.hpp"
#include "solver/report/solve_report.hpp"
#include "solver/request/words/formatted.hpp"

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
  }
  return parts;
}

std::string words_of(const Json& value) {
  if (value.is_null()) return "-";
  if (value.is_string()) return value.get<std::string>();
  if (value.is_boolean()) return value.get<bool>() ? "yes" : "no";
  if (value.is_number_float()) return format("%.6g", value.get<double>());
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

constexpr std::size_t longest_unbroken = 40;  // characters of a cell

std::string cell(const std::string& text, const std::string& tag) {
  const bool breaks = tag == "td" && text.size() > longest_unbroken;
  return "<" + tag + (breaks ? " class=\"long\">" : ">") + html_text(text) + "</" + tag + ">";
}

std::string table(const std::string& rows) { return "<div class=\"wide\"><table>\n" + rows + "</table></div>\n"; }

Row row(const std::string& head, const std::string& path) {
  return {head, [path](const Json& json) { return words_of(at(json, path)); }};
}

std::string side_by_side(const Reports& reports, const std::vector<Row>& rows) {
  std::string text = "<tr><th></th>";
  for (const ReadReport& report : reports) text += cell(report.name, "th");
  text += "</tr>\n";
  bool any = false;
  for (const Row& row : rows) {
    std::string cells;
    bool told = false;
    for (const ReadReport& report : reports) {
      const std::string words = row.words(report.json);
      told = told || (words != "-" && !words.empty());
      cells += cell(words);
    }
    if (told) text += "<tr>" + cell(row.head, "th") + cells + "</tr>\n";
    any = any || told;
  }
  return any ? table(text) : "";
}

std::vector<Row> rows_of_object(const Reports& reports, const std::string& key,
                                const std::function<std::string(const Json&)>& words) {
  std::vector<Row> rows;
  std::set<std::string> seen;
  for (const ReadReport& report : reports)
    for (const Json entries = at(report.json, key); const auto& [name, value] : entries.items())
      if (seen.insert(name).second)
        rows.push_back({name, [key, name = name, words](const Json& json) {
                          const Json found = at(json, key);
                          return found.contains(name) ? words(found[name]) : std::string("-");
                        }});
  return rows;
}

}  // namespace staghorn
