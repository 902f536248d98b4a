// JSON to text and back, the one place for both. Local.
//
// In memory a string may hold any bytes: names of files are such. In the text, bytes that are not UTF-8 are \xNN
// (reversible_text), which reading turns back.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace staghorn {

// `indent` blanks a level; -1: one line. NaN and infinities become null.
std::string text_of_json(nlohmann::ordered_json json, int indent = 2);

// Throws FileError, naming `where` and `expected`, where `text` is no JSON, or is nested deeper than any report.
nlohmann::ordered_json json_of_text(const std::string& where, const std::string& text, const std::string& expected);

}  // namespace staghorn
