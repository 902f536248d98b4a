// Shares as they are asked for, by numbers or by measurement, and what a measurement found. Plain data.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "halo/cut/slab_widths.hpp"

namespace staghorn {

struct ShareSummary {
  // Ranks of one device, number of threads and slowness. Of a rank that is left out, share and microseconds are 0.
  struct Kind {
    std::string device;  // "cpu x 4 threads", "cuda:0 (NVIDIA H200)", ", slowed 3" at its end where it is
    int ranks = 0, left_out = 0;
    double share = 0;         // of the sites of the lattice, all ranks of the kind together
    double microseconds = 0;  // that an iteration on the rank's part takes without waiting; of its slowest rank
  };
  std::vector<Kind> kinds;
  SlabWidths widths;          // chosen
  std::vector<int> left_out;  // ranks that idle, by their numbers in the whole job
  // Microseconds of an iteration of CG in one right-hand side. Of the slabs chosen: as the model foresaw, and measured.
  double predicted = 0, measured = 0;
  // Measured on even slabs, and on the best slabs for all ranks.
  double even = 0, of_all = 0;
  // Of the best slabs with some ranks left out: measured, or else foreseen; 0 where no rank may be left out.
  double of_fewer = 0;
  bool fewer_measured = false;
};

// The option `shares`.
struct AskedShares : Shares {
  bool automatic = false;                        // chosen by measurement before the lattice is cut
  std::shared_ptr<const ShareSummary> measured;  // where these shares were chosen so
};
// "auto", or as parse_shares.
AskedShares parse_asked_shares(const std::string& text);

}  // namespace staghorn
