// Seconds of wall-clock time since a stopwatch was made. Local.
#pragma once

#include <chrono>

namespace staghorn {

// Seconds since some moment before the process began.
inline double wall_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

class Stopwatch {
 public:
  double seconds() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point start_ = Clock::now();
};

}  // namespace staghorn
