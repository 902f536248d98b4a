// What right-hand sides have done, for states that are kept (solver/search/archive.hpp).
#pragma once

#include <string>
#include <vector>

#include "solver/krylov/krylov_solver.hpp"
#include "solver/search/search_keeper.hpp"

namespace staghorn {

// Running sums, one for each right-hand side: their bounds, which set their last bits. Local.
void archive_sums(const Archive& archive, const char* name, std::vector<ExactSum>& sums);

}  // namespace staghorn
