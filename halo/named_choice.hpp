// The values of an enum and their names, in one table: text to value and back.
#pragma once

#include <array>
#include <string>

#include "halo/watch/error.hpp"

namespace staghorn {

template <class Enum>
struct NamedValue {
  Enum value;
  const char* name;
};

template <class Enum, std::size_t n>
struct NamedChoice {
  const char* what;  // "system": the option or quantity that messages name
  std::array<NamedValue<Enum>, n> values;

  std::string name(Enum value) const {
    for (const NamedValue<Enum>& named : values)
      if (named.value == value) return named.name;
    throw Error(std::string("unknown ") + what);
  }

  // Throws Error naming the choices.
  Enum parse(const std::string& text) const {
    for (const NamedValue<Enum>& named : values)
      if (text == named.name) return named.value;
    throw Error(what, names(), "'" + text + "'");
  }

  // "full, even or odd".
  std::string names() const {
    std::string list;
    for (std::size_t i = 0; i < n; ++i) list += (i == 0 ? "" : i + 1 < n ? ", " : " or ") + std::string(values[i].name);
    return list;
  }
};

}  // namespace staghorn
