#include "lattice_io/files/header_text.hpp"

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

}  // namespace staghorn
