// The names of the kinds of errors in reports and Python (docs/guide/troubleshooting.md). Local.
#pragma once

#include "halo/watch/error.hpp"

namespace staghorn {

constexpr const char* to_string(ErrorKind kind) {
  constexpr const char* names[] = {"value", "argument", "layout",      "memory",   "device",
                                   "mpi",   "state",    "unsupported", "internal", "file"};
  return names[int(kind)];
}

}  // namespace staghorn
