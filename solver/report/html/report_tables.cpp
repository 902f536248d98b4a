#include "solver/report/html/report_tables.hpp"

#include <set>

#include "solver/report/html/line_plot.hpp"

namespace staghorn {

using Json = nlohmann::ordered_json;

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
