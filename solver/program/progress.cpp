#include "solver/program/progress.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <iostream>
#include <string>

namespace staghorn {

namespace {

std::string duration(double seconds) {
  char text[32];
  if (seconds < 60)
    std::snprintf(text, sizeof text, "%.0f s", seconds);
  else if (seconds < 3600)
    std::snprintf(text, sizeof text, "%d min %02d s", int(seconds) / 60, int(seconds) % 60);
  else
    std::snprintf(text, sizeof text, "%.1f h", seconds / 3600);
  return text;
}

}  // namespace

bool standard_output_is_terminal() {
  if (!isatty(STDOUT_FILENO)) return false;
  winsize size{};
  return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col >= 60;
}

ProgressDisplay::ProgressDisplay(std::ostream& out, bool live, double tolerance, std::int64_t sites)
    : out_(out), live_(live), tolerance_(tolerance), sites_(sites) {}

void ProgressDisplay::update(const CgProgress& progress) {
  const Clock::time_point now = Clock::now();
  if (!first_) {
    first_ = progress;
    start_ = last_shown_ = now;
  }
  const double interval = live_ ? 0.1 : 5.0;
  if (std::chrono::duration<double>(now - last_shown_).count() < interval) return;
  last_shown_ = now;

  const double elapsed = std::chrono::duration<double>(now - start_).count();
  const double rate = double(progress.iteration - first_->iteration) / elapsed;
  char text[160];
  std::snprintf(text, sizeof text, "iteration %6ld  residual %.2e  %.3g iterations/s  %.3g Msites/s",
                progress.iteration, progress.worst_ratio * tolerance_, rate, rate * double(sites_) * 1e-6);
  std::string line = text;
  // The logarithm of the residual falls about linearly, so what is left of it tells the time left.
  const double gained = std::log(first_->worst_ratio / progress.worst_ratio), left = std::log(progress.worst_ratio);
  if (gained > 1 && left > 0) line += "  about " + duration(elapsed * left / gained) + " left";
  if (live_)
    out_ << "\r\033[K" << line << std::flush;
  else
    out_ << line << std::endl;
  line_open_ = live_;
}

void ProgressDisplay::finish() {
  if (line_open_) out_ << "\r\033[K" << std::flush;
  line_open_ = false;
}

}  // namespace staghorn
