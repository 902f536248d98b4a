#include "halo/waiting_threads.hpp"

#include <unistd.h>

#include <cstdlib>
#include <string_view>

namespace staghorn {

void shorten_spin_of_waiting_threads(char** arguments) {
  if (std::getenv("GOMP_SPINCOUNT") || std::getenv("OMP_WAIT_POLICY")) return;  // the user's choice, or this one
  const char* threads = std::getenv("OMP_NUM_THREADS");
  if (threads && std::string_view(threads) == "1") return;  // no thread waits
  if (::setenv("GOMP_SPINCOUNT", short_spin, 0) != 0) return;
  ::execv("/proc/self/exe", arguments);  // returns only if the system refuses: then threads spin, and all is right
}

}  // namespace staghorn
