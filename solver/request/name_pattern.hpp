// Names of files made from a pattern: `q_{n:04}.h5` gives q_0007.h5. {field} stands for a text, and {field:04} for a
// number with at least four digits. Local.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace staghorn {

// The fields of the pattern, in order, each as often as it stands there: "n". Throws Error where braces do not match or
// what stands between them is no field.
std::vector<std::string> pattern_fields(const std::string& pattern);

// The pattern with the text of each field in its place. Throws Error naming the fields there are where the pattern has
// another one, or asks for digits of what is no number.
std::string fill_pattern(const std::string& pattern, const std::map<std::string, std::string>& texts);

}  // namespace staghorn
