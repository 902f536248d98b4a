// What the search for the vectors of a basis of blocks did: plain data, written as JSON with a versioned schema.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "solver/report/run_setting.hpp"
#include "solver/report/solve_report.hpp"
#include "solver/request/coarse/coarse_request.hpp"

namespace staghorn {

struct CoarseReport : RunSetting {
  static constexpr int schema_version = 1;
  CoarseRequest request;
  std::vector<double> values;                  // (v, K v) of each vector, ascending, lattice units, fp64, plain path
  std::vector<double> residuals;               // |K v - (v, K v) v|
  long calls = 0;                              // applications of K
  CoarseSummary space;                         // what solves have of it: blocks, coarse matrix, its pairs
  std::map<std::string, double> seconds;       // read, setup, vectors, certify, space, write
  std::map<std::string, double> memory_bytes;  // per object, summed over ranks
};

std::string to_json(const CoarseReport& report);  // pretty-printed, one trailing newline

}  // namespace staghorn
