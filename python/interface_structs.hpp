// What staghorn.h needs to be called from Python: errors raised, structs with their defaults, words for constants.
#pragma once

#include <nanobind/nanobind.h>
#include <staghorn.h>

#include <array>
#include <cstdint>
#include <map>
#include <string>

namespace staghorn::python {

using Four = std::array<std::int32_t, 4>;

// Raises what staghorn/errors.py makes of a status and the library's text.
[[noreturn]] void raise_error(int status, const std::string& text);

// Runs `call`, which returns a status, without the interpreter; then `look`, which may raise something else. Raises the
// error of a negative status, or returns the outcome.
template <class Call, class Look>
int checked(const Call& call, const Look& look) {
  int status = STAGHORN_OK;
  std::string text;
  {
    const nanobind::gil_scoped_release others_may_run;
    status = call();
    if (status < 0) text = staghorn_last_error();
  }
  look();
  if (status < 0) raise_error(status, text);
  return status;
}
template <class Call>
int checked(const Call& call) {
  return checked(call, [] {});
}

template <class Struct, int which>
Struct defaults() {
  Struct value{};
  checked([&] { return staghorn_defaults(&value, sizeof value, which); });
  return value;
}

// Options by name, which are released at the end.
struct Words {
  explicit Words(const std::map<std::string, std::string>& options);
  ~Words() { staghorn_words_release(&handle); }
  Words(const Words&) = delete;
  Words& operator=(const Words&) = delete;

  staghorn_words* handle = nullptr;
};

// The structs as classes: made with the library's defaults, fields by their names in C.
void bind_structs(nanobind::module_& m);
// Dictionaries from the words of Python to the constants of the header: ORDERS, PHASES and so on.
void bind_choices(nanobind::module_& m);

}  // namespace staghorn::python
