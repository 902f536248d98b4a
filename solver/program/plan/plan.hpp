// What `staghorn plan` says of a solve on a machine. Local.
#pragma once

#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "solver/machine/machine_model.hpp"

namespace staghorn {

struct Plan {
  SolveShape shape;
  IterationTime time;
  MemoryEstimate memory;  // of one rank
  double efficiency;      // of the memory of all ranks: bytes alone, equally shared, over the time
  bool fits;
  std::string fitting;  // what would fit, where this does not

  std::int64_t ranks() const { return volume(shape.grid); }
  const char* kernels() const { return !shape.on_gpu ? "host" : time.one_kernel ? "one" : "two"; }
  double site_iterations() const { return double(volume(shape.lattice)) * shape.n_rhs / time.total(); }
};

// `iterations`: how many to tell the seconds of, if any.
void print_table(std::ostream& out, const Machine& machine, const std::vector<Plan>& plans,
                 const std::optional<long>& iterations);
void print_json(std::ostream& out, const Machine& machine, const std::vector<Plan>& plans,
                const std::optional<long>& iterations);

}  // namespace staghorn
