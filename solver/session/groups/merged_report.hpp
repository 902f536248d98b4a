// One report of right-hand sides that were solved group after group. Local throughout.
#pragma once

#include <vector>

#include "solver/report/solve_report.hpp"

namespace staghorn {

// Adds what another group came to, all but its right-hand sides: seconds, the most memory, the spectrum.
void merge(SolveReport& whole, SolveReport&& part);

// Groups of like size: sources number begin(k) to begin(k + 1) - 1 are those of group k.
struct SourceGroups {
  SourceGroups(std::size_t all, std::size_t most) : all(all), count((all + most - 1) / most) {}
  std::size_t begin(std::size_t k) const { return k * all / count; }
  std::size_t size(std::size_t k) const { return begin(k + 1) - begin(k); }
  // The place of right-hand side i of group k in the whole. Both lists are mass by mass, source by source.
  std::size_t place(std::size_t k, std::size_t i) const { return i / size(k) * all + begin(k) + i % size(k); }

  std::size_t all, count;
};

// How full the groups were, from the reports of all right-hand sides.
BatchSummary summary_of(const SourceGroups& groups, const std::vector<RhsReport>& rhs);

}  // namespace staghorn
