#include "halo/watch/signal_watch.hpp"

#include <cstddef>
#include <iterator>

namespace staghorn {

namespace {

constexpr int watched[] = {SIGTERM, SIGINT, SIGUSR1};

volatile std::sig_atomic_t ending_signal = 0, saves = 0;

extern "C" void note_signal(int signal) {
  if (signal == SIGUSR1) {
    saves = saves + 1;
    return;
  }
  ending_signal = signal;
  std::signal(signal, SIG_DFL);  // the next one ends the process
}

}  // namespace

SignalWatch::SignalWatch() {
  ending_signal = 0;
  saves = 0;
  for (std::size_t k = 0; k < std::size(watched); ++k) {
    struct sigaction action = {};
    action.sa_handler = note_signal;
    action.sa_flags = SA_RESTART;
    sigemptyset(&action.sa_mask);
    sigaction(watched[k], &action, &before_[k]);
  }
}

SignalWatch::~SignalWatch() {
  for (std::size_t k = 0; k < std::size(watched); ++k) sigaction(watched[k], &before_[k], nullptr);
  ending_signal = 0;
  saves = 0;
}

bool signal_asked_to_end() noexcept { return ending_signal != 0; }
int times_asked_to_save() noexcept { return saves; }

}  // namespace staghorn
