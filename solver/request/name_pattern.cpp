#include "solver/request/name_pattern.hpp"

#include <algorithm>
#include <functional>

#include "halo/watch/error.hpp"

namespace staghorn {

namespace {

bool is_number(const std::string& text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

// The pattern with `value(name, digits)` for each field; `digits` is 0 where the field asks for none.
std::string replaced(const std::string& pattern,
                     const std::function<std::string(const std::string& name, int digits)>& value) {
  const auto refuse = [&] { throw Error("value", "fields as {n} or {n:04}", "'" + pattern + "'"); };
  std::string filled;
  std::size_t at = 0;
  for (std::size_t open = pattern.find('{'); open != std::string::npos; open = pattern.find('{', at)) {
    const std::size_t close = pattern.find('}', open);
    if (close == std::string::npos) refuse();
    const std::string field = pattern.substr(open + 1, close - open - 1);
    const std::size_t colon = field.find(':');
    const std::string form = colon == std::string::npos ? "" : field.substr(colon + 1);
    if (colon != std::string::npos && (form.size() != 2 || form[0] != '0' || form[1] < '1' || form[1] > '9')) refuse();
    filled += pattern.substr(at, open - at) + value(field.substr(0, colon), form.empty() ? 0 : form[1] - '0');
    at = close + 1;
  }
  if (pattern.find('}', at) != std::string::npos) refuse();
  return filled + pattern.substr(at);
}

}  // namespace

std::vector<std::string> pattern_fields(const std::string& pattern) {
  std::vector<std::string> names;
  replaced(pattern, [&](const std::string& name, int) {
    names.push_back(name);
    return "";
  });
  return names;
}

std::string fill_pattern(const std::string& pattern, const std::map<std::string, std::string>& texts) {
  return replaced(pattern, [&](const std::string& name, int digits) {
    const auto found = texts.find(name);
    if (found == texts.end()) {
      std::string names;
      for (const auto& [known, text] : texts) names += (names.empty() ? "{" : ", {") + known + "}";
      throw Error("value", "fields among " + names, "{" + name + "} in '" + pattern + "'");
    }
    std::string text = found->second;
    if (digits > 0 && !is_number(text))
      throw Error("value", "a number for {" + name + ":0" + std::to_string(digits) + "}", "'" + text + "'");
    text.insert(0, std::size_t(std::max(0, digits - int(text.size()))), '0');
    return text;
  });
}

}  // namespace staghorn
