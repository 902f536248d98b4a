#include "lattice_io/content/xml_text.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdint>
#include <string_view>
#include <utility>

#include "lattice_io/content/utf8_text.hpp"

namespace staghorn {

namespace {

// The characters that XML reserves, and their names.
constexpr std::pair<char, std::string_view> entities[] = {
    {'&', "amp"}, {'<', "lt"}, {'>', "gt"}, {'"', "quot"}, {'\'', "apos"}};

// Behind the first `end` from `at` on; the end of the text where there is none.
std::size_t behind(std::string_view xml, std::size_t at, std::string_view end) {
  const std::size_t found = xml.find(end, at);
  return found == std::string_view::npos ? xml.size() : found + end.size();
}

// Behind the '>' that ends what begins at `at`: not in quotes, nor in the brackets of <!DOCTYPE [ ... ]>.
std::size_t behind_tag(std::string_view xml, std::size_t at) {
  char quote = 0;
  int brackets = 0;
  for (; at < xml.size(); ++at) {
    const char c = xml[at];
    if (quote != 0)
      quote = c == quote ? char(0) : quote;
    else if (c == '"' || c == '\'')
      quote = c;
    else if (c == '[' || c == ']')
      brackets += c == '[' ? 1 : -1;
    else if (c == '>' && brackets <= 0)
      return at + 1;
  }
  return xml.size();
}

// What stands for the entity `name`; "&name;" where that is none of ASCII.
std::string entity(std::string_view name) {
  for (const auto& [character, own] : entities)
    if (name == own) return {character};
  const bool is_hexadecimal = name.starts_with("#x");
  std::uint32_t code = 0;
  const char *begin = name.data() + (is_hexadecimal ? 2 : 1), *end = name.data() + name.size();
  if (name.starts_with('#') && std::from_chars(begin, end, code, is_hexadecimal ? 16 : 10).ptr == end && code < 0x80)
    return {char(code)};
  return "&" + std::string(name) + ";";
}

std::string with_characters(std::string_view text) {
  std::string plain;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const std::size_t end = text[at] == '&' ? text.find(';', at) : std::string_view::npos;
    plain += end == std::string_view::npos ? std::string(1, text[at]) : entity(text.substr(at + 1, end - at - 1));
    if (end != std::string_view::npos) at = end;
  }
  return plain;
}

std::string trimmed(const std::string& text) {
  const auto first = text.find_first_not_of(" \t\r\n");
  return first == std::string::npos ? "" : text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1);
}

}  // namespace

std::string xml_value(const std::string& xml, const std::string& tag) {
  const std::string_view all = xml;
  std::string name, value;  // of the tag that is open, and what it holds so far
  int depth = 0;            // of tags of that name
  for (std::size_t at = 0, end = 0; at < all.size(); at = end) {
    const std::string_view rest = all.substr(at);
    const auto second = static_cast<unsigned char>(rest.size() > 1 ? rest[1] : ' ');
    if (rest.starts_with("<!--")) {
      end = behind(all, at + 4, "-->");
    } else if (rest.starts_with("<![CDATA[")) {
      end = behind(all, at, "]]>");
      if (depth > 0) value += all.substr(at + 9, std::max(end, at + 12) - at - 12);
    } else if (rest.starts_with("<?")) {
      end = behind(all, at, "?>");
    } else if (rest[0] == '<' && (std::isalpha(second) || second == '_' || second == '/' || second == '!')) {
      end = behind_tag(all, at);
      const bool closes = second == '/', is_empty = end - at > 2 && all[end - 2] == '/';
      const std::size_t from = at + 1 + (closes ? 1 : 0);
      const std::string found(all.substr(from, std::min(all.find_first_of(" \t\r\n/>", from), end) - from));
      const bool is_asked = found.substr(found.find(':') + 1) == tag;
      if (is_empty || (depth == 0 && !is_asked) || (depth > 0 && found != name)) continue;
      if (depth == 0 && !closes) name = found;
      depth += closes ? -1 : 1;
      if (depth == 0 && closes) return trimmed(value);
      depth = std::max(depth, 0);  // a tag that closes nothing
    } else {
      end = std::min(all.find('<', at + 1), all.size());
      if (depth > 0) value += with_characters(all.substr(at, end - at));
    }
  }
  return "";
}

std::string xml_tagged(const std::string& tag, const std::string& value) {
  return "<" + tag + ">" + value + "</" + tag + ">";
}

std::string xml_escaped(const std::string& text) {
  std::string escaped;
  for (const char c : utf8_text(text)) {
    const auto* const found =
        std::find_if(std::begin(entities), std::begin(entities) + 3, [c](const auto& one) { return one.first == c; });
    escaped += found == std::begin(entities) + 3 ? std::string(1, c) : "&" + std::string(found->second) + ";";
  }
  return escaped;
}

}  // namespace staghorn
