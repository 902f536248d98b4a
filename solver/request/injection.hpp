// Bits to be changed in the middle of a solve, for tests of faults: in words and back. Local.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace staghorn {

struct Injection {
  enum What { link, vector, halo, sum };
  What what = vector;      // in packed links, in the vectors of CG, in ghosts, in a sum over ranks
  long iteration = 0;      // of the solve, after which it happens
  std::uint64_t seed = 0;  // decides the rank, the vector and the bit
};

// "WHAT:ITERATION[:SEED],...", WHAT = link, vector, halo or sum. Throws Error.
std::vector<Injection> parse_injections(const std::string& text);
std::string to_string(const Injection& injection);

}  // namespace staghorn
