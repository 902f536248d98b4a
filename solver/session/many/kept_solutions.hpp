// Solutions that a job had before it went on: in the unfinished file, if they are what they were. Private to this
// folder.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "solver/search/search_keeper.hpp"
#include "solver/session/many/solve_many.hpp"

namespace staghorn {

// `solutions`, where a job can go on from it; else throws Error. Local.
SolutionSink* sink_that_goes_on(SolutionSink* solutions);

// Reads a solution into x. Returns whether it is there and has this hash; then the sink counts it as written.
// Collective.
bool read_back_whole(const Communicator& communicator, SolutionSink& solutions, std::size_t number, std::uint64_t hash,
                     VectorField& x);

// Hashes as two lists of 32 bits, whose names begin with `prefix`, and back. Local.
void put_hashes(SearchNumbers& numbers, const std::string& prefix, const std::vector<std::uint64_t>& hashes);
std::vector<std::uint64_t> get_hashes(const SearchNumbers& numbers, const std::string& prefix, std::size_t n);

}  // namespace staghorn
