// What an iteration of CG takes ranks, measured for a moment on random links: each rank on its own, or all together.
#pragma once

#include <span>
#include <vector>

#include "halo/communicator.hpp"
#include "halo/lattice.hpp"
#include "solver/krylov/conjugate_gradient.hpp"
#include "solver/machine/shares/share_model.hpp"
#include "solver/request/solve_request.hpp"

namespace staghorn {

// The end of a solve after so many iterations, by nothing else. Local.
CgStop just_iterations(std::size_t n_rhs, long iterations);
// So many iterations of CG from x = 0, and waits for them; b2 = |b|^2. Collective.
LoopForm iterate(const ParitySystem& system, CgVectors& work, ColorVectorField& x, const ColorVectorField& b,
                 const std::vector<double>& b2, long iterations, const ShowProgress& show);

// The numbers of every rank, one after the other, on every rank. Collective.
std::vector<double> of_all_ranks(const Communicator& all, std::span<const double> own);

struct MeasuredIteration {
  double seconds = 0;
  bool by_hosts = false;  // some rank's host takes part in each iteration
};
// What an iteration takes the ranks of `communicator` together on the parts that `lattice` says, the slowest rank: the
// fastest of several pieces, with the precision and links of the iterations of `options`, one right-hand side.
// Collective.
MeasuredIteration time_iteration(const Communicator& communicator, const Lattice& lattice,
                                 const SessionOptions& options, int cuda_device);

// Seconds that an iteration takes this rank alone on a part of these extents: in directions that `grid` cuts, faces
// travel from the rank to itself. All ranks work at the same time, as in a solve, for ranks of a host share its memory.
// Collective.
double time_own_iteration(const Communicator& all, const Extents& local, const Extents& grid,
                          const SessionOptions& options, int cuda_device);

// The speed of every rank, on every rank, from parts of the extents `local` that a rank would have in `grid`, thinner
// ones, and without faces. Collective.
std::vector<RankSpeed> measure_speeds(const Communicator& all, const Extents& local, const Extents& grid,
                                      const SessionOptions& options, int cuda_device);

}  // namespace staghorn
