// The sources of a job, times a power of two where a double cannot hold their squares (passes/scaled_sources.hpp).
// Private to session/. Collective.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "solver/gauge/gauge.hpp"
#include "solver/report/solve_report.hpp"

namespace staghorn {

class SourcesInRange {
 public:
  // Guesses in `solutions` become those of the sources in range, until take_back, or until the object goes. All but
  // `zero_source_is_a_result`, without which such a source throws Error, must outlive the object.
  SourcesInRange(Gauge& gauge, const SolveRequest& request, std::span<const VectorField> sources,
                 std::span<VectorField> solutions, bool zero_source_is_a_result);
  ~SourcesInRange();
  SourcesInRange(const SourcesInRange&) = delete;
  SourcesInRange& operator=(const SourcesInRange&) = delete;

  std::span<const VectorField> sources() const { return times_.empty() ? given_ : scaled_; }
  std::span<const double> b2() const { return b2_; }
  // Solutions to the size of the sources that were given. What a double cannot hold there is judged as it is held.
  void take_back(SolveReport& report);

 private:
  void multiply_solutions(int sign);

  Gauge& gauge_;
  const SolveRequest& request_;
  std::span<const VectorField> given_;
  std::span<VectorField> solutions_;
  std::vector<double> b2_;
  std::vector<VectorField> scaled_;
  std::optional<VectorField> residual_;
  std::vector<int> times_;  // of each source; none where all are in range, and in the end
};

}  // namespace staghorn
