// The choice that a user may have meant: for names of options and commands, and for their values. Local.
#pragma once

#include <string>
#include <vector>

namespace staghorn {

// " Did you mean 'X'?" for the choice closest to `word`, by its letters or as a part of it, or "" where none
// is close.
std::string did_you_mean(const std::string& word, const std::vector<std::string>& choices);

// `message` with such a question behind it, where it ends with "expected A, B or C, found 'W'" and W may have meant one
// of the choices that are single words.
std::string with_did_you_mean(const std::string& message);

}  // namespace staghorn
