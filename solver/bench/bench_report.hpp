// What `staghorn bench` prints and writes: tables and JSON of measurements. Local.
#pragma once

#include <iosfwd>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "solver/bench/benchmark.hpp"
#include "solver/bench/benchmark_scaling.hpp"

namespace staghorn {

// Below, for each result that has a time table: microseconds of each part, and what share of it was hidden.
void print_table(std::ostream& out, const std::vector<BenchmarkResult>& results);
// One line for each cut: ranks, grid, local lattice, time, its ratio to that of the first cut (a column headed
// `ratio`), transport, floor where there is one, hosts.
void print_table(std::ostream& out, const std::vector<CutResult>& results, const char* ratio);

// How faces travelled, once for each size of face, and transports that failed their test; of cuts the latter alone.
void print_transports(std::ostream& out, const std::vector<BenchmarkResult>& results);
void print_transports(std::ostream& out, const std::vector<CutResult>& results);

// One line that adds up what tuning did for these; nothing where no launch was tuned.
void print_tuning(std::ostream& out, const std::vector<BenchmarkResult>& results);
void print_tuning(std::ostream& out, const std::vector<CutResult>& results);

nlohmann::ordered_json to_json(const BenchmarkResult& result);
nlohmann::ordered_json to_json(const CutResult& result);

}  // namespace staghorn
