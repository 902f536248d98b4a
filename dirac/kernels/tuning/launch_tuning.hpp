// Which launches are the fastest on this GPU: remembered from an earlier run (launch_cache.hpp), or timed now. What a
// kernel computes has the same bits whatever is chosen, since sums are exact.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "dirac/kernels/kernel_table.hpp"
#include "halo/communicator.hpp"

namespace staghorn {

// What is timed: one parity's view of an operator on a GPU.
struct TuningCase {
  const KernelTable& kernels;
  const SiteLayout& layout;
  const HopView& view;
  FacePointers ghosts;  // readable; what they hold does not matter
  bool whole;           // hops are one launch, else the interior and the boundary are launched apart
};

// The choices for the kernels of CG, the same on all ranks: those of rank 0, which alone reads the file, times (with
// random vectors, r, p, tmp and x of the operator's size in GPU memory meanwhile) and adds what is new to the file.
// Where nothing matters, one tile being possible and all blocks fitting at once, and where those vectors find no room,
// choices stay as they are. Collective.
LaunchTuning tune_launches(const Communicator& communicator, const TuningCase& what, const std::string& device,
                           Tuning mode);

// The choices between which the kernel is timed: of tiles for n_rhs right-hand sides, the largest first, where one
// launch holds sites that may need ghosts (`cut`) or not; and of waves.
std::vector<LaunchChoice> tile_candidates(Precision precision, int n_rhs, bool cut);
std::vector<LaunchChoice> wave_candidates(const LaunchChoice& tile);

// The candidate of the least median time, asked for in turns; the first unless another gains at least two per cent.
LaunchChoice fastest(const std::vector<LaunchChoice>& candidates,
                     const std::function<double(const LaunchChoice&)>& seconds);

}  // namespace staghorn
