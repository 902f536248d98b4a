// How an iteration of Conjugate Gradient depends on the cut: on the number of ranks, and on which rank holds which
// part. Everything is measured in one call, on the same machine and in the same minutes. Collective.
#pragma once

#include <array>
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "halo/host_mapping.hpp"
#include "solver/bench/benchmark.hpp"
#include "solver/machine/machine_model.hpp"

namespace staghorn {

struct CutResult {
  std::string series;  // "strong", "weak", or the name of a mapping
  int ranks = 1;
  Extents lattice{}, grid{}, local{};
  Placement placement;
  BenchmarkResult cg;
  double efficiency = 1;  // scaling: against the fewest ranks that ran; mapping: the natural order's time over this
  double floor_microseconds = 0;  // by the machine model with the measured stream; on a GPU only, else 0
};

struct ScalingCase {
  std::optional<Extents> strong;  // extents of the lattice that all ranks share
  std::optional<Extents> weak;    // extents that each rank holds: grids grow in the shortest direction (weak_grid)
  std::array<bool, 4> along{true, true, true, true};  // weak: directions in which they may
  std::optional<Extents> grid;                        // mapping only: instead of the one with the least surface
  Mapping mapping = Mapping::host;
};

// The counts 1, 2, 4, ... and n_ranks itself. Local.
std::vector<int> rank_counts(int n_ranks);

// The grid of a weak series at `n_ranks`: prime factors, large ones first, each go to the direction, of those in
// `along`, in which the lattice is shortest so far; of equals to the later one. Local.
Extents weak_grid(const Extents& local, int n_ranks, const std::array<bool, 4>& along = {true, true, true, true});

// Strong and weak series over rank_counts. The first n ranks work, the others sleep. What cannot run (extents that the
// count does not divide, memory) is left out with a line to `out` that says why; throws Error where nothing runs.
// `machine` gives the floors, with the stream that the n ranks read in place of its own (`stream_read`: of all ranks).
// Results on rank 0.
std::vector<CutResult> benchmark_scaling(const Communicator& communicator, const ScalingCase& what,
                                         const BenchmarkOptions& options, const Machine& machine, double stream_read,
                                         std::ostream& out);

// The lattice what.strong on all ranks in every mapping: natural, reversed, host.
std::vector<CutResult> benchmark_mapping(const Communicator& communicator, const ScalingCase& what,
                                         const BenchmarkOptions& options, const Machine& machine, double stream_read);

}  // namespace staghorn
