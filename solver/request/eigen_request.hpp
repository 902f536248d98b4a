// What `staghorn eigen` is asked to do: plain data with defaults and units.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "halo/lattice.hpp"
#include "solver/request/solve_request.hpp"

namespace staghorn {

struct EigenRequest : AskedCheckpoint {
  static constexpr int most_pairs = 1000;  // a basis has half as many again, and its dense eigenproblem one core
  int pairs = 0;                           // the lowest ones of K = -D^2 on even sites
  double tolerance = 1e-10;                // on |K v - lambda v| for each pair, over the largest eigenvalue of K
  long max_calls = 1000000;                // applications of K
  std::uint64_t seed = 1;                  // of the start vector
  // Of the Chebyshev polynomial; found by the program when absent. For tests and studies.
  std::optional<double> interval_from;
  std::optional<int> degree;
};

// Throws Error where the request makes no sense, or not with these options. Local.
void check_eigen_request(const EigenRequest& request, const SessionOptions& options);
// Throws Error where K has not so many eigenpairs on even sites. Local.
void check_eigen_request(const EigenRequest& request, const Extents& lattice);

}  // namespace staghorn
