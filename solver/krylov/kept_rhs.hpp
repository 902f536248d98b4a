// What right-hand sides have done, for states that are kept (solver/search/search_keeper.hpp).
#pragma once

#include <string>
#include <vector>

#include "solver/krylov/krylov_solver.hpp"
#include "solver/search/search_keeper.hpp"

namespace staghorn {

// As lists whose names begin with `prefix`, and back. `get_rhs` throws Error where a list is absent or has another
// length. Local.
void put(SearchNumbers& numbers, const std::string& prefix, const std::vector<SolvedRhs>& rhs);
std::vector<SolvedRhs> get_rhs(const SearchNumbers& numbers, const std::string& prefix, std::size_t n_rhs);

}  // namespace staghorn
