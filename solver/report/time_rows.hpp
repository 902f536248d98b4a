// Where the time of hops goes, and how much of it is hidden: the table of Kim & Lee, Lattice 2010. Plain data.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace staghorn {

struct TimeRow {
  std::string part;               // compute, gather, DtoH, MPI, HtoD, scatter, sums, communication
  std::optional<double> seconds;  // mean of the ranks; nothing where it is included in another part
  double slowest = 0;             // of the rank where it took longest
  // The share of the part that was hidden behind computing. For `communication` it is the share of what could be
  // hidden, the lesser of `communication` and `compute`. No value where there is nothing to hide.
  std::optional<double> hidden_share;
  std::string note;  // why there is no figure, or none but zero
};

struct TimeTable {
  std::vector<TimeRow> rows;  // none where no face travels
  long one_hop_in = 1;        // one hop of so many was timed and stands for the others
};

}  // namespace staghorn
