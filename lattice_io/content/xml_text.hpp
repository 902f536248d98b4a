// XML in the records of files: values of tags in what others wrote, and text to be written. Local.
#pragma once

#include <string>

namespace staghorn {

// The text between <tag ...> and </tag> without the tags inside, blanks trimmed; "" if there is none. Entities and
// CDATA are their characters. Comments, instructions and the prefix of a namespace, as in <i:tag>, do not count.
std::string xml_value(const std::string& xml, const std::string& tag);

inline const std::string xml_start = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>";
// <tag>value</tag>
std::string xml_tagged(const std::string& tag, const std::string& value);
// `text` with the characters that XML reserves written as entities.
std::string xml_escaped(const std::string& text);

}  // namespace staghorn
