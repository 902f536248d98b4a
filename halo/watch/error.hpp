// The one exception type of Staghorn: what was expected, what was found, and where.
#pragma once

#include <sstream>
#include <stdexcept>
#include <string>

namespace staghorn {

class Error : public std::runtime_error {
 public:
  explicit Error(const std::string& message) : std::runtime_error(message) {}

  // "where: expected E, found F"
  template <class Expected, class Found>
  Error(const std::string& where, const Expected& expected, const Found& found)
      : std::runtime_error(format(where, expected, found)) {}

 private:
  template <class Expected, class Found>
  static std::string format(const std::string& where, const Expected& expected, const Found& found) {
    std::ostringstream text;
    text << where << ": expected " << expected << ", found " << found;
    return text.str();
  }
};

// A number as messages show it.
inline std::string three_digits(double value) {
  std::ostringstream text;
  text.precision(3);
  text << value;
  return text.str();
}

// What failed on this rank alone, a call of CUDA or MPI for instance: the others do not know, and may wait for it.
// Where ranks agree (Communicator::agree), it becomes an Error on all of them; else only who can end them all may
// handle it.
class LocalError : public Error {
 public:
  using Error::Error;
};

}  // namespace staghorn
