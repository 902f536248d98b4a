// Values of options that are no enums, as text: parsers and their inverses. Parsers throw Error that says what was
// expected of the `value`; about_option puts the option's name in the place of that word. Local.
#pragma once

#include <array>
#include <charconv>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

#include "halo/lattice.hpp"
#include "halo/watch/error.hpp"

namespace staghorn {

// `message` of a parser, beginning with the name of the option.
std::string about_option(const std::string& name, const std::string& message);

bool parse_switch(const std::string& text);                        // "on" or "off"
std::array<bool, 4> parse_directions(const std::string& letters);  // "xt": the directions that are named
std::vector<std::string> parse_words(const std::string& text);     // those between commas
Extents parse_extents(const std::string& text);  // four positive numbers between blanks, commas or the letter x

// A number of that type and nothing else. A double may be infinite or NaN.
template <class Number>
Number parse_number(const std::string& text) {
  Number value{};
  const char* const begin = text.data() + (text.starts_with('+') && !text.starts_with("+-"));
  const auto [end, code] = std::from_chars(begin, text.data() + text.size(), value);
  constexpr const char* kind = std::is_integral_v<Number> ? "a whole number" : "a number";
  if (end != text.data() + text.size() || code == std::errc::invalid_argument)
    throw Error("value", kind, "'" + text + "'");
  if (code == std::errc::result_out_of_range) {
    const double largest = double(std::numeric_limits<Number>::max());
    throw Error("value", kind + (" of size up to " + three_digits(largest)), "'" + text + "'");
  }
  return value;
}

inline std::string option_text(const std::string& value) { return value; }
inline std::string option_text(bool value) { return value ? "on" : "off"; }
inline std::string option_text(int value) { return std::to_string(value); }
inline std::string option_text(long value) { return std::to_string(value); }
std::string option_text(const std::vector<double>& values);      // "0.01,0.02"
std::string option_text(double value);                           // the fewest digits that give the same number back
std::string option_text(const std::array<bool, 4>& directions);  // "xt"

}  // namespace staghorn
