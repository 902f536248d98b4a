// Tables of a page: reports side by side. Local.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "solver/report/html/report_words.hpp"

namespace staghorn {

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
