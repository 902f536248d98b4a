// What an exception says to a user: where it comes from and what it means. Local.
#pragma once

#include <exception>
#include <string>

#include "halo/watch/error.hpp"

namespace staghorn {

struct FailureWords {
  ErrorKind kind;
  std::string text;
};

// Those of an Error as it has them. Of others: no memory, the file system or the operating system by name; what
// remains is an exception of a library that should have been an Error, and is called a fault of Staghorn with its type.
FailureWords words_of_failure(const std::exception& failure);

}  // namespace staghorn
