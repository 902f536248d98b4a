// What `staghorn plan` says of a solve on a machine. Local.
#pragma once

#include <iosfwd>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "solver/machine/machine_model.hpp"
#include "solver/machine/read_model.hpp"

namespace staghorn {

// Ranks of one kind of machine.
struct PlannedKind {
  Machine machine;
  int ranks = 0;
  Lattice part;  // the largest of theirs
  IterationTime time;
  MemoryEstimate memory;  // of the rank with that part
  bool fits = true;
  std::string fitting;  // what would fit, where this does not
};

struct Plan {
  SolveShape shape;
  std::vector<PlannedKind> kinds;  // rank k has machine k modulo their number
  std::string cut;                 // of several: "auto", "even", "h200 alone", ...
  IterationTime time;              // of the slowest rank
  double efficiency = 0;           // of the memory of all ranks: bytes alone, equally shared, over the time

  double file_bytes_per_site = 0;
  std::vector<std::pair<FileSystem, ReadTime>> reading;  // the links of the file, from each of these

  std::int64_t ranks() const { return volume(shape.grid); }
  bool unlike() const { return kinds.size() > 1; }
  bool all_fit() const;
  const char* kernels() const { return !kinds.front().memory.on_gpu ? "host" : time.one_kernel ? "one" : "two"; }
  double site_iterations() const { return double(volume(shape.lattice)) * shape.n_rhs / time.total(); }
};

// A plan for ranks of these kinds on the grid and slabs of `shape`. Throws Error where the lattice cannot be cut so.
Plan make_plan(std::span<const Machine> kinds, const SolveShape& shape);

// `machines`: those of the command line. `iterations`: how many to tell the seconds of, if any.
void print_table(std::ostream& out, std::span<const Machine> machines, const std::vector<Plan>& plans,
                 const std::optional<long>& iterations);
void print_json(std::ostream& out, std::span<const Machine> machines, const std::vector<Plan>& plans,
                const std::optional<long>& iterations);

// `--find-eigenpairs` (search_plan.cpp): the memory of one rank on each of the grids, and the most pairs that fit. As a
// table, or as JSON.
void print_search_plan(std::ostream& out, const Machine& machine, const Extents& lattice, const SessionOptions& options,
                       int pairs, const std::vector<Extents>& grids, bool as_json);

}  // namespace staghorn
