// A report as it is read for its page: its values in words, and tables of reports side by side. Local.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "solver/report/html/html_report.hpp"

namespace staghorn {

// A parsed report. The kinds are told apart by the keys that only one of them has.
struct ReadReport {
  enum class Kind { solve, eigen, bench, campaign } kind;
  std::string name;
  nlohmann::ordered_json json;
};

// Throws Error that names the report where it is no JSON, no report, or one of another schema version.
ReadReport read_report(const NamedReport& report);
// The reports of the solved configurations of a campaign, by the names of their files.
std::vector<ReadReport> parts_of(const ReadReport& campaign);

// A value as text: numbers with 6 digits, null as "-", lists with x between numbers and commas between words.
std::string words_of(const nlohmann::ordered_json& value);
// The value at a path such as "gauge/plaquette"; null where there is none.
nlohmann::ordered_json at(const nlohmann::ordered_json& json, const std::string& path);

// Bytes per second that the iterations of a solve moved at least, in GB/s: each link and vector that a pass needs,
// once. 0 where that is not known: solvers other than cg and mixed, improved quarks, several masses, many sources.
double least_traffic(const nlohmann::ordered_json& solve);

using Reports = std::vector<ReadReport>;

// <td>text</td>, where long texts may break anywhere; `tag` th for heads.
std::string cell(const std::string& text, const std::string& tag = "td");
// A table of these rows (<tr>...</tr>), which scrolls where it is too wide.
std::string table(const std::string& rows);

// One row for each value, one column for each report. A row without any value is left out.
struct Row {
  std::string head;
  std::function<std::string(const nlohmann::ordered_json&)> words;
};

// The value at a path such as "gauge/plaquette", in words.
Row row(const std::string& head, const std::string& path);
// "" where no report has any of the values.
std::string side_by_side(const Reports& reports, const std::vector<Row>& rows);
// Entries of an object such as `seconds`, which reports may have in part.
std::vector<Row> rows_of_object(const Reports& reports, const std::string& key,
                                const std::function<std::string(const nlohmann::ordered_json&)>& words);

}  // namespace staghorn
