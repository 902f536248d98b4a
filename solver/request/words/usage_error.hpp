// An Error in what a user asks of a command, which ends the program with an exit status of its own.
#pragma once

#include "halo/watch/error.hpp"

namespace staghorn {

// The command line itself is wrong (exit status 2): unknown names, missing or malformed values.
class UsageError : public Error {
 public:
  using Error::Error;
};

}  // namespace staghorn
