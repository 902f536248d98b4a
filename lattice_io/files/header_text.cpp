#include "lattice_io/files/header_text.hpp"

#include <charconv>

#include "halo/watch/error.hpp"

namespace staghorn {

std::string printable(const std::string& text) {
  std::string result = text;
  for (char& c : result)
    if (c == 0x7f || (static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\r' && c != '\t')) c = '?';
  return result;
}

std::string fixed_digits(double value, int digits) {
  char text[400];
  return {text, std::to_chars(text, text + sizeof text, value, std::chars_format::fixed, digits).ptr};
}

std::string shortest_digits(double value) {
  char text[32];
  return {text, std::to_chars(text, text + sizeof text, value).ptr};
}

std::int64_t whole_number(const std::string& where, const std::string& text, std::int64_t lowest,
                          std::int64_t highest) {
  const char* blanks = " \t\r\n";
  const auto first = text.find_first_not_of(blanks), last = text.find_last_not_of(blanks);
  std::int64_t value = 0;
  if (first != std::string::npos) {
    const char *begin = text.data() + first, *end = text.data() + last + 1;
    const auto [stopped, failure] = std::from_chars(begin, end, value);
    if (failure == std::errc() && stopped == end && value >= lowest && value <= highest) return value;
  }
  throw FileError(where, "a whole number from " + std::to_string(lowest) + " to " + std::to_string(highest),
                  "'" + printable(text.substr(0, 64)) + "'");
}

}  // namespace staghorn
