// The one exception type of Staghorn: what was expected, what was found, and where.
#pragma once

#include <sstream>
#include <stdexcept>
#include <string>

namespace staghorn {

// What went wrong, for callers that act on it. `value`: what was given makes no sense; most errors are of this kind.
// `file`: a file cannot be read or written, or does not hold what it must.
enum class ErrorKind { value, argument, layout, memory, device, mpi, state, unsupported, internal, file };

class Error : public std::runtime_error {
 public:
  explicit Error(const std::string& message) : std::runtime_error(message) {}
  Error(ErrorKind kind, const std::string& message) : std::runtime_error(message), kind_(kind) {}

  // "where: expected E, found F"
  template <class Expected, class Found>
  Error(const std::string& where, const Expected& expected, const Found& found)
      : std::runtime_error(format(where, expected, found)) {}
  template <class Expected, class Found>
  Error(ErrorKind kind, const std::string& where, const Expected& expected, const Found& found)
      : std::runtime_error(format(where, expected, found)), kind_(kind) {}

  ErrorKind kind() const { return kind_; }

 private:
  template <class Expected, class Found>
  static std::string format(const std::string& where, const Expected& expected, const Found& found) {
    std::ostringstream text;
    text << where << ": expected " << expected << ", found " << found;
    return text.str();
  }

  ErrorKind kind_ = ErrorKind::value;
};

// Of ErrorKind::file. `where` begins with the name of the file.
class FileError : public Error {
 public:
  explicit FileError(const std::string& message) : Error(ErrorKind::file, message) {}
  template <class Expected, class Found>
  FileError(const std::string& where, const Expected& expected, const Found& found)
      : Error(ErrorKind::file, where, expected, found) {}
};

// A number with three digits, for messages.
inline std::string three_digits(double value) {
  std::ostringstream text;
  text.precision(3);
  text << value;
  return text.str();
}

// A failure on this rank alone, for example of a call of CUDA or MPI. The other ranks do not know of it and may wait
// for this one. Communicator::agree makes it an Error on all ranks. Elsewhere only code that can end all ranks may
// catch it.
class LocalError : public Error {
 public:
  using Error::Error;
};

}  // namespace staghorn
