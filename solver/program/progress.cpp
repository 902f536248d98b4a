#include "solver/program/progress.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <iostream>
#include <string>

#include "solver/request/words/formatted.hpp"

namespace staghorn {

namespace {

// 11782 as 12000.
std::string two_digits(double number) {
  const double digit = std::pow(10, std::max(0.0, std::floor(std::log10(number)) - 1));
  return format("%.0f", std::round(number / digit) * digit);
}

std::string duration(double seconds) {
  if (seconds < 60) return format("%.0f s", seconds);
  if (seconds < 3600) return format("%d min %02d s", int(seconds) / 60, int(seconds) % 60);
  return format("%.1f h", seconds / 3600);
}

// A terminal that can redraw a line. (mpirun hands ranks a pseudo-terminal without a size even when its own output goes
// to a file: that counts as a log.)
bool standard_output_is_terminal() {
  if (!isatty(STDOUT_FILENO)) return false;
  winsize size{};
  return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col >= 60;
}

constexpr const char* clear_line = "\r\033[K";

}  // namespace

LiveLine::LiveLine(std::ostream& out) : out_(out), live_(standard_output_is_terminal()) {}

bool LiveLine::is_due() const { return since_shown_.seconds() >= (live_ ? 0.1 : 5.0); }

void LiveLine::show(const std::string& line) {
  wait();
  if (live_)
    out_ << clear_line << line << std::flush;
  else
    out_ << line << std::endl;
  open_ = live_;
}

void LiveLine::clear() {
  if (open_) out_ << clear_line << std::flush;
  open_ = false;
}

void ProgressDisplay::update(const CgProgress& progress) {
  if (!first_) {
    first_ = progress;
    since_first_ = Stopwatch();
    line_.wait();
  }
  if (!line_.is_due()) return;

  const double rate = double(progress.iteration - first_->iteration) / since_first_.seconds();
  // What is left of the logarithm of the residual tells the iterations left: it falls about as before, or as CG's
  // coefficients foresee, if that is faster.
  const double gained = std::log(first_->worst_ratio / progress.worst_ratio), left = std::log(progress.worst_ratio);
  double more = gained > 1 ? double(progress.iteration - first_->iteration) * left / gained : HUGE_VAL;
  if (progress.iterations_per_e > 0) more = std::min(more, progress.iterations_per_e * left);
  const bool is_known = left > 0 && std::isfinite(more);
  std::string of_about;
  if (is_known) of_about = " of about " + two_digits(double(progress.iteration) + more);
  std::string line = format("iteration %6ld%s  residual %.2e  %.3g iterations/s  %.3g Msites/s", progress.iteration,
                            of_about.c_str(), progress.worst_ratio * tolerance_, rate, rate * double(sites_) * 1e-6);
  if (is_known && rate > 0) line += "  about " + duration(more / rate) + " left";
  line_.show(line);
}

}  // namespace staghorn
