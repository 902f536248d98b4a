// What a search for eigenpairs did: plain data, written as JSON with a versioned schema.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "solver/report/run_setting.hpp"
#include "solver/request/eigen_request.hpp"

namespace staghorn {

// certified: all pairs were found, each has the residual that was asked for, and the probe found none that is missing.
// incomplete: the probe found that pairs are missing, and the calls do not suffice to add them. inaccurate: rounding
// left a larger residual than was asked for.
enum class EigenOutcome { certified, incomplete, out_of_calls, inaccurate };
std::string to_string(EigenOutcome outcome);

struct EigenReport : RunSetting {
  static constexpr int schema_version = 1;
  EigenRequest request;
  EigenOutcome outcome = EigenOutcome::out_of_calls;
  std::string explanation;                              // "" when certified
  std::vector<double> values;                           // of K = -D^2 on even sites, ascending, lattice units
  std::vector<double> residuals;                        // |K v - lambda v| of each, fp64, plain path
  double largest_eigenvalue = 0, largest_residual = 0;  // the upper end of the spectrum, and |K v - lambda v| there
  // Of the polynomial, at the end.
  double interval_from = 0, interval_to = 0;
  int degree = 0, widened = 0;
  // Applications of K: all, and those of them that found the range.
  long calls = 0, range_calls = 0;
  long filtered_vectors = 0;  // vectors to which the polynomial was applied
  int basis = 0;              // vectors between restarts
  int block = 1;              // vectors to which the polynomial is applied at once
  int restarts = 0, random_vectors = 0, converged = 0;
  // The certificate: over all pairs the largest residual and the largest |V^+ V - 1|, and the probe for missing ones.
  double certified_residual = 0, orthogonality = 0;
  int probes = 0, found_missing = 0;
  double lowest_of_probe = 0;
  std::optional<CheckpointSummary> checkpoint;  // where the request has one
  std::map<std::string, double> seconds;        // read, setup, range, search, certify, write
  std::map<std::string, double> memory_bytes;   // per object, summed over ranks
};

std::string to_json(const EigenReport& report);  // pretty-printed, one trailing newline

}  // namespace staghorn
