#include "solver/json/json_text.hpp"

#include "halo/watch/error.hpp"
#include "lattice_io/content/utf8_text.hpp"

namespace staghorn {

using Json = nlohmann::ordered_json;

namespace {

// Reports have 8 levels. What works through a value calls itself for each, so that many levels end the stack.
constexpr int deepest = 100;

// Puts change(text) in place of every string and name.
template <class Change>
void change_texts(Json& json, const Change& change) {
  if (json.is_string()) json = change(json.get_ref<const std::string&>());
  if (!json.is_structured()) return;
  for (Json& value : json) change_texts(value, change);
  if (!json.is_object()) return;
  Json renamed = Json::object();
  for (auto& [name, value] : json.get_ref<Json::object_t&>()) renamed.push_back({change(name), std::move(value)});
  json = std::move(renamed);
}

}  // namespace

std::string text_of_json(Json json, int indent) {
  change_texts(json, reversible_text);
  return json.dump(indent);
}

Json json_of_text(const std::string& where, const std::string& text, const std::string& expected) {
  const auto fail = [&](const std::string& found) { throw FileError(where, expected, found); };
  Json json;
  try {
    json = Json::parse(text, [&](int depth, Json::parse_event_t, const Json&) {
      if (depth > deepest) fail("JSON of more than " + std::to_string(deepest) + " levels");
      return true;
    });
  } catch (const Json::parse_error& error) {
    fail("no JSON: it breaks off at byte " + std::to_string(error.byte));
  } catch (const Json::exception&) {
    fail("JSON with a number that no double holds");
  }
  change_texts(json, bytes_of);
  return json;
}

}  // namespace staghorn
