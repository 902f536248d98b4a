#include "solver/machine/shares/foreseen_widths.hpp"

#include <vector>

#include "solver/machine/shares/share_model.hpp"
#include "solver/request/operator_request.hpp"

namespace staghorn {

SlabWidths foreseen_widths(std::span<const Machine> kinds, const SolveShape& shape, LoopChoice asked) {
  std::vector<RankSpeed> speeds;
  const std::vector<IterationTime> times = iteration_times(kinds, shape, asked);
  for (int rank = 0; rank < int(times.size()); ++rank) {
    const IterationTime& time = times[std::size_t(rank)];
    speeds.push_back({time.latency, time.memory / double(part_of(shape, rank).local_volume()), 0});
  }
  return balanced_widths(shape.lattice, shape.grid, smallest_extent(stencil_of(shape.options)), speeds);
}

}  // namespace staghorn
