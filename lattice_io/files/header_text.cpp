#include "lattice_io/files/header_text.hpp"

#include <charconv>

#include "halo/watch/error.hpp"

namespace staghorn {

namespace {

bool is_utf8(const std::string& text) {
  int continuation = 0;  // bytes 10xxxxxx still to come
  for (const unsigned char c : text) {
    if (continuation > 0) {
      if ((c & 0xc0) != 0x80) return false;
      --continuation;
    } else if (c >= 0x80) {
      continuation = (c & 0xe0) == 0xc0 ? 1 : (c & 0xf0) == 0xe0 ? 2 : (c & 0xf8) == 0xf0 ? 3 : 0;
      if (continuation == 0) return false;
    }
  }
  return continuation == 0;
}

}  // namespace

std::string printable(const std::string& text) {
  const bool utf8 = is_utf8(text);
  std::string result = text;
  for (char& c : result) {
    const auto byte = static_cast<unsigned char>(c);
    const bool control = byte == 0x7f || (byte < 0x20 && c != '\n' && c != '\r' && c != '\t');
    if (control || (byte >= 0x80 && !utf8)) c = '?';
  }
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
