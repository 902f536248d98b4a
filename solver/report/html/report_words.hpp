// Values of a report's JSON in words, for its page. Local.
#pragma once

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
  bool is_part = false;  // of a campaign, whose report is there too
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

}  // namespace staghorn
