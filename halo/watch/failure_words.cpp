#include "halo/watch/failure_words.hpp"

#include <cxxabi.h>

#include <cstdlib>
#include <filesystem>
#include <memory>
#include <new>
#include <stdexcept>
#include <system_error>
#include <typeinfo>

namespace staghorn {

namespace {

std::string type_of(const std::exception& failure) {
  const char* const name = typeid(failure).name();
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> readable(abi::__cxa_demangle(name, nullptr, nullptr, &status),
                                                             &std::free);
  return status == 0 ? readable.get() : name;
}

}  // namespace

FailureWords words_of_failure(const std::exception& failure) {
  if (const auto* error = dynamic_cast<const Error*>(&failure)) return {error->kind(), error->what()};
  if (dynamic_cast<const std::bad_alloc*>(&failure)) return {ErrorKind::memory, "out of memory"};
  if (dynamic_cast<const std::length_error*>(&failure))
    return {ErrorKind::memory, "out of memory: a list or a text longer than any memory"};
  if (const auto* error = dynamic_cast<const std::filesystem::filesystem_error*>(&failure))
    return {ErrorKind::file, error->path1().string() + ": the file system says: " + error->code().message()};
  if (const auto* error = dynamic_cast<const std::system_error*>(&failure))
    return {ErrorKind::internal, "the operating system says: " + error->code().message()};
  return {ErrorKind::internal, "a fault of Staghorn, not of its input: an exception of type " + type_of(failure) +
                                   " says: " + failure.what()};
}

}  // namespace staghorn
