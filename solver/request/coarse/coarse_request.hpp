// What `staghorn coarse` is asked to do: plain data with defaults and units.
#pragma once

#include <cstdint>
#include <optional>

#include "solver/request/solve_request.hpp"

namespace staghorn {

struct CoarseRequest {
  static constexpr int most_vectors = 256;
  int vectors = 24;              // near the null space of K = -D^2 on even sites
  long iterations = 150;         // of CG for each
  std::uint64_t seed = 1;        // of the noise that they begin as
  std::optional<Extents> block;  // sites in each direction; absent: chosen by the program
};

// Throws Error where the request makes no sense on this lattice. Local.
void check_coarse_request(const CoarseRequest& request);

}  // namespace staghorn
