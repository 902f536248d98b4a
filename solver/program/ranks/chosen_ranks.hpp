// The ranks that take part in a command: all of them, or with `shares auto` those that make it faster.
#pragma once

#include <functional>
#include <string>

#include "halo/communicator.hpp"
#include "lattice_io/files/output_file.hpp"
#include "solver/request/solve_request.hpp"

namespace staghorn {

// Decides `shares auto` of `options` for the lattice of the links (of the file `gauge`, or of stored fat links), and
// runs `work` on the ranks that take part; these are all where numbers are given. Ranks that are left out sleep until
// the others are done; then all return the status of rank 0, or throw: each rank that worked its own Error, the others
// one with the words of rank 0. `claim` takes the names that the job writes to: before ranks are chosen, which takes a
// while, and then for as long as they work. Collective.
int on_chosen_ranks(const Communicator& all, const std::string& gauge, SessionOptions& options,
                    const std::function<void(ClaimedNames&)>& claim,
                    const std::function<int(const Communicator&)>& work);

}  // namespace staghorn
