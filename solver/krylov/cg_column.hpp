// The bookkeeping of one right-hand side in Conjugate Gradient: when it is done, and why. One rule for all loops on the
// host.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "solver/krylov/conjugate_gradient.hpp"

namespace staghorn {

struct RunningColumn {
  CgColumn result;
  bool active = true;
  double smallest = std::numeric_limits<double>::infinity();  // |r|^2 so far
  long since_smallest = 0;

  void finish(CgOutcome outcome) {
    result.outcome = outcome;
    active = false;
  }

  void judge(double r2, double target, long window) {
    result.history.push_back(r2);
    result.iterations = long(result.history.size()) - 1;
    result.residual_norm = std::sqrt(r2);
    if (!std::isfinite(r2)) return finish(CgOutcome::breakdown);
    if (result.residual_norm <= target) return finish(CgOutcome::converged);
    if (r2 < smallest) {
      smallest = r2;
      since_smallest = 0;
    } else if (++since_smallest >= window && window > 0) {
      finish(CgOutcome::stagnated);
    }
  }
};

// Judges every active column by its |r|^2.
inline void judge(std::span<RunningColumn> columns, std::span<const double> r2, const CgStop& stop) {
  for (std::size_t i = 0; i < columns.size(); ++i)
    if (columns[i].active) columns[i].judge(r2[i], stop.target_norm[i], stop.stagnation_window);
}

inline long count_active(std::span<const RunningColumn> columns) {
  return std::count_if(columns.begin(), columns.end(), [](const RunningColumn& c) { return c.active; });
}

// Ends active columns whose (p, A p) is not positive: A is, so the numbers are no longer what they should be.
inline void require_positive(std::span<RunningColumn> columns, std::span<const double> p_A_p) {
  for (std::size_t i = 0; i < columns.size(); ++i)
    if (columns[i].active && !(p_A_p[i] > 0)) columns[i].finish(CgOutcome::breakdown);
}

// numerator / denominator of active columns; a frozen one gets 0 and so stays as it is.
inline std::vector<double> ratio(std::span<const RunningColumn> columns, std::span<const double> numerator,
                                 std::span<const double> denominator) {
  std::vector<double> result(columns.size(), 0);
  for (std::size_t i = 0; i < columns.size(); ++i)
    if (columns[i].active) result[i] = numerator[i] / denominator[i];
  return result;
}

// The largest |r| / target_norm, for progress.
inline double worst_ratio(std::span<const RunningColumn> columns, const CgStop& stop) {
  double worst = 0;
  for (std::size_t i = 0; i < columns.size(); ++i)
    worst = std::max(worst, columns[i].result.residual_norm / stop.target_norm[i]);
  return worst;
}

inline std::vector<CgColumn> take_results(std::span<RunningColumn> columns) {
  std::vector<CgColumn> results;
  for (RunningColumn& column : columns) results.push_back(std::move(column.result));
  return results;
}

}  // namespace staghorn
