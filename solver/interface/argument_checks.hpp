// What is asked of an argument by itself. Throws Error of kind `argument`. Local.
#pragma once

#include <cmath>
#include <string>

#include "halo/watch/error.hpp"

namespace staghorn {

inline void check_pointer(const char* name, const void* pointer) {
  if (!pointer) throw Error(ErrorKind::argument, name, "a pointer", "NULL");
}

// first <= value <= last.
inline void check_choice(const char* name, long value, long first, long last) {
  if (value < first || value > last)
    throw Error(ErrorKind::argument, name, std::to_string(first) + " to " + std::to_string(last), value);
}

inline void check_finite(const char* name, double value) {
  if (!std::isfinite(value)) throw Error(ErrorKind::argument, name, "a finite number", value);
}

}  // namespace staghorn
