// `staghorn plan --find-eigenpairs`: the memory of a search for eigenpairs on a machine that need not be here. Local.
#pragma once

#include <iosfwd>
#include <vector>

#include "solver/machine/machine_model.hpp"
#include "solver/request/solve_request.hpp"

namespace staghorn {

// The memory of one rank on each of the grids, and the most pairs that fit. As a table, or as JSON.
void print_search_plan(std::ostream& out, const Machine& machine, const Extents& lattice, const SessionOptions& options,
                       int pairs, const std::vector<Extents>& grids, bool as_json);

}  // namespace staghorn
