// Signals that ask a long piece of work to save its state, or to save it and end. Local.
//
// Signals belong to the process, so what they asked for is noted for the process.
#pragma once

#include <csignal>

namespace staghorn {

// Notes SIGTERM, SIGINT and SIGUSR1 until the end of the scope, instead of letting them end the process. The second
// SIGTERM or SIGINT ends the process at once. One watch at a time.
class SignalWatch {
 public:
  SignalWatch();
  ~SignalWatch();
  SignalWatch(const SignalWatch&) = delete;
  SignalWatch& operator=(const SignalWatch&) = delete;

 private:
  struct sigaction before_[3];
};

// What signals have asked for since the watch began; nothing without a watch. By any thread.
bool signal_asked_to_end() noexcept;  // SIGTERM or SIGINT came
int times_asked_to_save() noexcept;   // how often SIGUSR1 came

}  // namespace staghorn
