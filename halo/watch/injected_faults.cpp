#include "halo/watch/injected_faults.hpp"

#include <cstdlib>

#include "halo/watch/activity.hpp"
#include "halo/watch/error.hpp"

namespace staghorn {

InjectedFault::InjectedFault(const char* variable, const std::string& text, int this_rank) {
  char* end = nullptr;
  const long rank = std::strtol(text.c_str(), &end, 10);
  const long count = *end == ':' ? std::strtol(end + 1, &end, 10) : 0;
  if (const std::string rest = end; rest.starts_with(" in ")) activity_ = rest.substr(4);
  if ((*end != '\0' && activity_.empty()) || rank < 0 || count < 1)
    throw Error(variable, "RANK:COUNT or RANK:COUNT in ACTIVITY", "'" + text + "'");
  if (rank == this_rank) calls_left_ = count;
}

bool InjectedFault::is_counted() const {
  return activity_.empty() || current_activity().find(activity_) != std::string::npos;
}

}  // namespace staghorn
