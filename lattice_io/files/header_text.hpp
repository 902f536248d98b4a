// Text out of the headers of files, which may be damaged: made fit for messages, JSON and attributes. Local.
#pragma once

#include <cstdint>
#include <string>

namespace staghorn {

// `text` with control characters but line ends and tabs as '?'. Bytes that are not UTF-8 stay; what shows or stores
// them makes them so (utf8_text.hpp).
std::string printable(const std::string& text);

// `value` with so many digits behind the decimal point, or with as few as give the same double back. The locale does
// not matter.
std::string fixed_digits(double value, int digits);
std::string shortest_digits(double value);

// The whole number that `text` is, blanks around it allowed. Throws Error, naming `where`, unless `text` is a decimal
// number from `lowest` to `highest`.
std::int64_t whole_number(const std::string& where, const std::string& text, std::int64_t lowest, std::int64_t highest);

}  // namespace staghorn
