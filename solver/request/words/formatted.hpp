#pragma once

#include <cstdio>
#include <string>

namespace staghorn {

// The text of a printf pattern, up to 511 characters of it.
template <class... Values>
std::string format(const char* pattern, Values... values) {
  char text[512];
  std::snprintf(text, sizeof text, pattern, values...);
  return text;
}

}  // namespace staghorn
