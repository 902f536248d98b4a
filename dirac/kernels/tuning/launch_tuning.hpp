// Finds the fastest launches on this GPU: they are remembered from an earlier run (launch_cache.hpp), or timed now.
// Sums are exact, so a kernel gives the same bits with every choice.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "dirac/kernels/kernel_table.hpp"
#include "halo/communicator.hpp"

namespace staghorn {

// What is timed: the kernels on one parity of an operator on a GPU.
struct TuningCase {
  const KernelTable& kernels;
  const SiteLayout& layout;
  const HopView& view;
  FacePointers ghosts;  // readable; their contents do not matter
  bool whole;           // a hop is one launch; else interior and boundary are launched apart
};

// Returns the choices for the kernels of CG, the same on all ranks. Rank 0 alone reads the file, times, and adds new
// choices to the file. Timing takes GPU memory for four vectors of the operator's size. The default choices stay where
// only one tile is possible and all blocks fit at once, and where the vectors find no room. Collective.
LaunchTuning tune_launches(const Communicator& communicator, const TuningCase& what, const std::string& device,
                           Tuning mode);

// The choices that are timed. Tiles: all that divide n_rhs, the largest first; `cut`: a launch may hold sites that need
// ghosts. Waves: several, with the given tile.
std::vector<LaunchChoice> tile_candidates(Stencil stencil, Precision precision, int n_rhs, bool cut);
std::vector<LaunchChoice> wave_candidates(const LaunchChoice& tile);

// Returns the candidate with the least median time; the first one unless another gains at least two per cent.
// Candidates are timed in turns.
LaunchChoice fastest(const std::vector<LaunchChoice>& candidates,
                     const std::function<double(const LaunchChoice&)>& seconds);

}  // namespace staghorn
