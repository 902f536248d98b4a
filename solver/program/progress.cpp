#include "solver/program/progress.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <iostream>
#include <string>

namespace staghorn {

namespace {

// 11782 as 12000.
std::string two_digits(double number) {
  const double digit = std::pow(10, std::max(0.0, std::floor(std::log10(number)) - 1));
  char text[32];
  std::snprintf(text, sizeof text, "%.0f", std::round(number / digit) * digit);
  return text;
}

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
  // What is left of the logarithm of the residual tells the iterations left: it falls about as before, or as CG's
  // coefficients foresee, if that is faster.
  const double gained = std::log(first_->worst_ratio / progress.worst_ratio), left = std::log(progress.worst_ratio);
  double more = gained > 1 ? double(progress.iteration - first_->iteration) * left / gained : HUGE_VAL;
  if (progress.iterations_per_e > 0) more = std::min(more, progress.iterations_per_e * left);
  const bool is_known = left > 0 && std::isfinite(more);
  std::string of_about;
  if (is_known) of_about = " of about " + two_digits(double(progress.iteration) + more);
  char text[160];
  std::snprintf(text, sizeof text, "iteration %6ld%s  residual %.2e  %.3g iterations/s  %.3g Msites/s",
                progress.iteration, of_about.c_str(), progress.worst_ratio * tolerance_, rate,
                rate * double(sites_) * 1e-6);
  std::string line = text;
  if (is_known && rate > 0) line += "  about " + duration(more / rate) + " left";
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
