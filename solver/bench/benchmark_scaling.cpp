#include "solver/bench/benchmark_scaling.hpp"

#include <algorithm>
#include <ostream>
#include <tuple>
#include <utility>

#include "halo/cut_lattice.hpp"
#include "halo/watch/error.hpp"
#include "solver/machine/memory_check.hpp"

namespace staghorn {

namespace {

// Where a series runs: every rank of `communicator` works.
struct Stage {
  const BenchmarkOptions& options;
  const Machine& machine;
  double stream_per_rank;

  double floor_microseconds(const CutResult& result) const {
    if (options.cuda_device < 0) return 0;
    Machine here = machine;
    here.stream = stream_per_rank;
    SolveShape shape{result.lattice, result.grid, {}, options.rhs, System::even, true};
    shape.options.quarks = options.session.quarks;
    shape.options.precision = result.cg.precision;
    if (result.cg.naik_links)
      shape.options.naik_links = *result.cg.naik_links;
    else
      shape.options.links = result.cg.links;
    shape.options.transport = result.cg.transport;
    return iteration_time({&here, 1}, shape, default_loop_choice()).total() * 1e6;
  }

  // Refused before anything is allocated, alike on all ranks.
  void require_room(const Communicator& communicator, const Lattice& lattice) const {
    SolveShape shape{lattice.global(), lattice.grid(), {}, options.rhs, System::even, options.cuda_device >= 0};
    shape.widths = lattice.widths();
    shape.rank = lattice.rank();
    shape.options.quarks = options.session.quarks;
    shape.options.precision = *std::min_element(options.precisions.begin(), options.precisions.end());  // fp64 is first
    if (options.session.quarks.improved())
      shape.options.naik_links =
          *std::min_element(options.naik_links.begin(), options.naik_links.end());  // 18 reals too
    else
      shape.options.links = *std::min_element(options.links.begin(), options.links.end());
    require_memory(communicator, shape, options.cuda_device, {});
  }

  std::vector<CutResult> run(const Communicator& communicator, const std::string& series, const Extents& extents,
                             const std::optional<Extents>& grid, Mapping mapping) const {
    const PlacedLattice placed = place_lattice(communicator, extents, grid, {}, {}, mapping);
    require_room(placed.communicator, placed.lattice);
    std::vector<CutResult> results;
    for (const BenchmarkResult& cg :
         benchmark_cg(placed.communicator, placed.lattice, options, stream_per_rank * communicator.size())) {
      const Lattice& lattice = placed.lattice;
      results.push_back({series, communicator.size(), extents, lattice.grid(), lattice.local(), placed.placement, cg});
      results.back().floor_microseconds = floor_microseconds(results.back());
    }
    return results;
  }
};

// What is timed, as numbers in order.
auto numbers_of(const BenchmarkResult& cg) { return std::tie(cg.precision, cg.links, cg.naik_links); }

bool same_choice(const CutResult& a, const CutResult& b) {
  return a.series == b.series && a.cg.what == b.cg.what && numbers_of(a.cg) == numbers_of(b.cg);
}

}  // namespace

std::vector<int> rank_counts(int n_ranks) {
  std::vector<int> counts;
  for (int n = 1; n < n_ranks; n *= 2) counts.push_back(n);
  counts.push_back(n_ranks);
  return counts;
}

Extents weak_grid(const Extents& local, int n_ranks, const std::array<bool, 4>& along) {
  std::vector<int> factors;
  for (int factor = 2; n_ranks > 1; ++factor)
    for (; n_ranks % factor == 0; n_ranks /= factor) factors.insert(factors.begin(), factor);
  Extents grid{1, 1, 1, 1};
  for (const int factor : factors) {
    int shortest = -1;
    for (int mu = 3; mu >= 0; --mu)
      if (along[std::size_t(mu)] && (shortest < 0 || local[mu] * grid[mu] < local[shortest] * grid[shortest]))
        shortest = mu;
    grid[shortest] *= factor;
  }
  return grid;
}

std::vector<CutResult> benchmark_scaling(const Communicator& communicator, const ScalingCase& what,
                                         const BenchmarkOptions& options, const Machine& machine, double stream_read,
                                         std::ostream& out) {
  std::vector<CutResult> results;
  std::string last_reason;
  for (const int n : rank_counts(communicator.size())) {
    const bool works = communicator.rank() < n;
    const Communicator part = communicator.split(works ? 0 : 1, communicator.rank());
    std::optional<Stage> stage;
    // One series. A failure is that of the ranks which work, and rank 0 is among them.
    const auto add = [&](const std::string& series, const Extents& extents, const std::optional<Extents>& grid) {
      std::string reason;
      try {
        if (works && !stage) {
          const double stream = n == communicator.size() ? stream_read : measure_stream_read(part, options);
          stage.emplace(Stage{options, machine, stream / n});
        }
        if (works)
          for (CutResult& result : stage->run(part, series, extents, grid, what.mapping)) {
            const auto first = std::find_if(results.begin(), results.end(),
                                            [&](const CutResult& known) { return same_choice(known, result); });
            if (first != results.end()) {
              const double ideal = series == "strong" ? double(first->ranks) / n : 1;
              result.efficiency = ideal * first->cg.microseconds / result.cg.microseconds;
            }
            results.push_back(std::move(result));
          }
      } catch (const LocalError&) {
        throw;
      } catch (const Error& error) {
        reason = error.what();
      }
      communicator.patient_barrier();
      reason = communicator.broadcast(reason);
      if (reason.empty()) return;
      out << series << ", " << n << (n == 1 ? " rank" : " ranks") << ": left out: " << reason << "\n";
      last_reason = reason;
    };

    if (what.strong) add("strong", *what.strong, std::nullopt);
    if (what.weak) {
      const Extents grid = weak_grid(*what.weak, n, what.along);
      Extents extents{};
      for (int mu = 0; mu < 4; ++mu) extents[mu] = (*what.weak)[mu] * grid[mu];
      add("weak", extents, grid);
    }
  }
  if (communicator.any(communicator.is_root() && results.empty())) throw Error(last_reason);
  std::stable_sort(results.begin(), results.end(), [](const CutResult& a, const CutResult& b) {
    return a.series != b.series ? a.series < b.series : numbers_of(a.cg) < numbers_of(b.cg);
  });
  return results;
}

std::vector<CutResult> benchmark_mapping(const Communicator& communicator, const ScalingCase& what,
                                         const BenchmarkOptions& options, const Machine& machine, double stream_read) {
  const Stage stage{options, machine, stream_read / communicator.size()};
  std::vector<CutResult> results;
  for (const Mapping mapping : {Mapping::natural, Mapping::reversed, Mapping::host})
    for (CutResult& result : stage.run(communicator, to_string(mapping), *what.strong, what.grid, mapping)) {
      const auto natural = std::find_if(results.begin(), results.end(), [&](const CutResult& known) {
        return numbers_of(known.cg) == numbers_of(result.cg);
      });
      if (natural != results.end()) result.efficiency = natural->cg.microseconds / result.cg.microseconds;
      results.push_back(std::move(result));
    }
  return results;
}

}  // namespace staghorn
