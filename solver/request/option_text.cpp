#include "solver/request/option_text.hpp"

#include <algorithm>
#include <sstream>

namespace staghorn {

namespace {

constexpr std::string_view direction_letters = "xyzt";
constexpr double most_sites = 1e15;  // products of extents stay far from where 64 bits overflow

}  // namespace

std::string about_option(const std::string& name, const std::string& message) {
  constexpr std::string_view nameless = "value: ";
  if (message.starts_with(name + ":")) return message;
  return name + ": " + (message.starts_with(nameless) ? message.substr(nameless.size()) : message);
}

bool parse_switch(const std::string& text) {
  if (text != "on" && text != "off") throw Error("value", "on or off", "'" + text + "'");
  return text == "on";
}

std::array<bool, 4> parse_directions(const std::string& letters) {
  std::array<bool, 4> directions{};
  for (const char letter : letters) {
    const std::size_t mu = direction_letters.find(letter);
    if (mu == std::string::npos) throw Error("value", "letters among xyzt", "'" + letters + "'");
    directions[mu] = true;
  }
  return directions;
}

std::vector<std::string> parse_words(const std::string& text) {
  std::vector<std::string> words;
  std::istringstream stream(text);
  for (std::string word; std::getline(stream, word, ',');) words.push_back(word);
  if (words.empty() || text.back() == ',') throw Error("value", "numbers between commas", "'" + text + "'");
  return words;
}

std::string option_text(const std::vector<double>& values) {
  std::string text;
  for (const double value : values) text += (text.empty() ? "" : ",") + option_text(value);
  return text;
}

std::string option_text(double value) {
  char text[32];
  return std::string(text, std::to_chars(text, text + sizeof text, value).ptr);
}

std::string option_text(const std::array<bool, 4>& directions) {
  std::string letters;
  for (std::size_t mu = 0; mu < 4; ++mu)
    if (directions[mu]) letters += direction_letters[mu];
  return letters;
}

Extents parse_extents(const std::string& text) {
  std::string spaced = text;
  std::replace_if(
      spaced.begin(), spaced.end(), [](char c) { return c == 'x' || c == ','; }, ' ');
  std::istringstream numbers(spaced);
  Extents extents{};
  for (int& extent : extents) numbers >> extent;
  std::string rest;
  double product = 1;
  for (const int extent : extents) product *= extent;
  if (!numbers || (numbers >> rest) || std::any_of(extents.begin(), extents.end(), [](int e) { return e < 1; }) ||
      product > most_sites)
    throw Error("value", "four positive numbers for x, y, z, t", "'" + text + "'");
  return extents;
}

}  // namespace staghorn
