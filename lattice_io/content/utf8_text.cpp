#include "lattice_io/content/utf8_text.hpp"

#include <algorithm>

namespace staghorn {

namespace {

// The character that begins at text[at]: how many bytes it has, and how many of them are there; 0 bytes where what is
// there begins none. [RFC 3629, section 4]
struct Character {
  std::size_t bytes, there;
};

Character character_at(std::string_view text, std::size_t at) {
  const auto byte = [&](std::size_t k) { return static_cast<unsigned char>(text[at + k]); };
  const unsigned first = byte(0);
  if (first < 0x80) return {1, 1};
  const std::size_t bytes = first >= 0xc2 && first <= 0xdf   ? 2
                            : first >= 0xe0 && first <= 0xef ? 3
                            : first >= 0xf0 && first <= 0xf4 ? 4
                                                             : 0;
  // The second byte says no character twice, no half of a UTF-16 pair, and nothing beyond U+10FFFF.
  const unsigned lowest = first == 0xe0 ? 0xa0 : first == 0xf0 ? 0x90 : 0x80;
  const unsigned highest = first == 0xed ? 0x9f : first == 0xf4 ? 0x8f : 0xbf;
  std::size_t there = 1;
  for (; there < bytes && at + there < text.size(); ++there)
    if (byte(there) < (there == 1 ? lowest : 0x80) || byte(there) > (there == 1 ? highest : 0xbf)) return {0, 0};
  return {bytes, there};
}

std::string escaped(char c) {
  constexpr std::string_view digits = "0123456789abcdef";
  const auto byte = static_cast<unsigned char>(c);
  return {'\\', 'x', digits[byte >> 4], digits[byte & 15]};
}

std::string with_escapes(std::string_view text, bool reversible) {
  std::string result;
  result.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const Character character = character_at(text, at);
    const bool is_whole = character.bytes > 0 && character.there == character.bytes;
    const bool looks_escaped = reversible && text.substr(at, 2) == "\\x";
    if (is_whole && !looks_escaped)
      result += text.substr(at, character.bytes);
    else
      result += escaped(text[at]);
    at += is_whole ? character.bytes : 1;
  }
  return result;
}

int digit(char c) { return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1; }

}  // namespace

std::string utf8_text(std::string_view text) { return with_escapes(text, false); }

std::string reversible_text(std::string_view text) { return with_escapes(text, true); }

std::string bytes_of(std::string_view reversible) {
  std::string bytes;
  for (std::size_t at = 0; at < reversible.size();) {
    const std::string_view here = reversible.substr(at, 4);
    const bool escape = here.size() == 4 && here.starts_with("\\x") && digit(here[2]) >= 0 && digit(here[3]) >= 0;
    bytes += escape ? char(digit(here[2]) * 16 + digit(here[3])) : reversible[at];
    at += escape ? 4 : 1;
  }
  return bytes;
}

bool Utf8Buffer::hand_on(std::string_view text, bool is_end) {
  const std::string all = begun_ + std::string(text);
  std::size_t end = all.size();  // of what can be told now: the last three bytes may begin a character
  for (std::size_t at = end - std::min<std::size_t>(end, 3); !is_end && at < end; ++at) {
    const Character character = character_at(all, at);
    if (character.there < character.bytes) end = at;
  }
  begun_ = all.substr(end);
  const std::string shown = utf8_text(std::string_view(all).substr(0, end));
  return to_->sputn(shown.data(), std::streamsize(shown.size())) == std::streamsize(shown.size());
}

Utf8Buffer::int_type Utf8Buffer::overflow(int_type c) {
  if (traits_type::eq_int_type(c, traits_type::eof())) return traits_type::not_eof(c);
  const char one = traits_type::to_char_type(c);
  return hand_on({&one, 1}, false) ? c : traits_type::eof();
}

std::streamsize Utf8Buffer::xsputn(const char* text, std::streamsize n) {
  return hand_on({text, std::size_t(n)}, false) ? n : 0;
}

int Utf8Buffer::sync() {
  const bool handed_on = begun_.empty() || hand_on("", true);
  return to_->pubsync() == 0 && handed_on ? 0 : -1;
}

}  // namespace staghorn
