// A collective call asks for the same thing on every rank of its context. Ranks that ask for different things would
// wait for each other for ever, or add up what does not belong together: they find out in their first message.
#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "halo/communicator.hpp"
#include "halo/watch/error.hpp"

namespace staghorn {

// What this rank asks for: the call, and those of its arguments that must be the same on all ranks. Local.
class Asked {
 public:
  explicit Asked(const char* call) { add("call", call); }

  template <std::integral Integer>
  void add(const std::string& name, Integer value) {
    add(name, std::to_string(value).c_str());
  }
  void add(const std::string& name, double value);
  void add(const std::string& name, const char* text);  // NULL is a text of its own
  // "name[0]", "name[1]", ...
  template <class Number>
  void add(const std::string& name, std::span<const Number> values) {
    for (std::size_t i = 0; i < values.size(); ++i) add(name + '[' + std::to_string(i) + ']', values[i]);
  }

  const std::string& lines() const { return lines_; }  // "name value\n" each; numbers with all their digits

 private:
  std::string lines_;
};

// Runs `read`, which reads and checks the arguments of `call` and adds what must be alike. Throws Error on all ranks:
// that of the lowest rank where `read` threw one, or else one that names the first difference. One small message to
// each of log2(ranks) others. Collective; the first message of every collective function.
//
// A rank that could not tell which context it was called for (refuse_alike) may come late: it looks for others while
// they, refused as it is, have waited in vain and are in their next call. Then RefusedBefore is thrown on all ranks:
// the late one is refused, and the others begin again.
void agree_alike(const Communicator& all, const char* call, const std::function<void(Asked&)>& read);

// The part of a rank that refuses the call for which others wait. Throws `refused` on all ranks, or RefusedBefore where
// they are a call ahead. Collective, with agree_alike on others.
void refuse_alike(const Communicator& all, const Error& refused);

// The call that a rank refused is one that the others have ended before.
class RefusedBefore : public Error {
 public:
  RefusedBefore() : Error(ErrorKind::state, "a rank was refused in the call before") {}
};

}  // namespace staghorn
