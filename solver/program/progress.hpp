// What a person sees while CG runs: one live line on a terminal, plain lines every few seconds in a log file.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>

#include "halo/watch/stopwatch.hpp"
#include "solver/krylov/cg_progress.hpp"

namespace staghorn {

// A line that tells how far something is, and takes the place of the one before where standard output is a terminal.
class LiveLine {
 public:
  explicit LiveLine(std::ostream& out);
  bool is_due() const;  // a new line: not a moment after the last one
  void show(const std::string& line);
  void wait() { since_shown_ = Stopwatch(); }  // as after a line
  void clear();

 private:
  std::ostream& out_;
  bool live_, open_ = false;
  Stopwatch since_shown_;
};

class ProgressDisplay {
 public:
  // `tolerance` turns CG's ratios into residuals; `sites` of the global lattice times n_rhs gives the rate. Local.
  ProgressDisplay(std::ostream& out, double tolerance, std::int64_t sites)
      : line_(out), tolerance_(tolerance), sites_(sites) {}

  // Shows iteration, residual, rate, and estimates of all iterations and of the time left, unless it did so a moment
  // ago.
  void update(const CgProgress& progress);
  void finish() { line_.clear(); }

 private:
  LiveLine line_;
  double tolerance_;
  std::int64_t sites_;
  std::optional<CgProgress> first_;
  Stopwatch since_first_;
};

}  // namespace staghorn
