// How an iteration of Conjugate Gradient depends on how much of the lattice the slower ranks have, beside what
// `shares auto` chooses and foresees. Everything is measured in one call.
#pragma once

#include <iosfwd>
#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "solver/bench/benchmark.hpp"

namespace staghorn {

struct ShareRow {
  double share = 0;  // R: of the sites of the lattice, all slower ranks together
  SlabWidths widths;
  double microseconds = 0, predicted = 0;  // of an iteration: measured, and by the model
};

struct ShareBenchmark {
  std::vector<int> slower;     // ranks; none where all are equally fast
  std::vector<ShareRow> rows;  // in the order of R: the longest direction in slabs, one for each rank
  ShareRow even, chosen;       // even slabs, and those of `shares auto`
  std::vector<int> left_out;   // ranks that `shares auto` leaves out
  double of_fewer = 0;         // microseconds of the best slabs with some ranks left out, as in ShareSummary
  bool fewer_measured = false;
};

// Ranks are slower where a site takes them longer than the geometric mean of the fastest and the slowest, if these
// differ by a tenth. Slabs of equal speed have equal shares; at most `most_rows` values of R are measured. In the first
// precision of `options` and its first links, one right-hand side. Collective.
ShareBenchmark benchmark_shares(const Communicator& communicator, const Extents& extents,
                                const BenchmarkOptions& options, int most_rows = 16);

// The table, with its minimum beside the prediction; `to_json`: the same. Local.
void print_table(std::ostream& out, const ShareBenchmark& shares);
nlohmann::ordered_json to_json(const ShareBenchmark& shares);

}  // namespace staghorn
