// What a person sees while CG runs: one live line on a terminal, plain lines every few seconds in a log file.
#pragma once

#include <chrono>
#include <cstdint>
#include <iosfwd>
#include <optional>

#include "solver/krylov/cg_progress.hpp"

namespace staghorn {

// True where standard output is a terminal that can redraw a line. (mpirun hands ranks a pseudo-terminal without a
// size even when its own output goes to a file: that counts as a log.)
bool standard_output_is_terminal();

class ProgressDisplay {
 public:
  // `tolerance` turns CG's ratios into residuals; `sites` of the global lattice times n_rhs gives the rate. Local.
  ProgressDisplay(std::ostream& out, bool live, double tolerance, std::int64_t sites);

  // Shows iteration, residual, rate, and estimates of all iterations and of the time left, unless it did so a moment
  // ago.
  void update(const CgProgress& progress);
  // Clears the live line.
  void finish();

 private:
  using Clock = std::chrono::steady_clock;

  std::ostream& out_;
  bool live_;
  double tolerance_;
  std::int64_t sites_;
  Clock::time_point start_, last_shown_;  // start_ is when the first iteration was done
  std::optional<CgProgress> first_;
  bool line_open_ = false;
};

}  // namespace staghorn
