// What the report says of checkpoints. Plain data.
#pragma once

#include <string>
#include <vector>

namespace staghorn {

struct CheckpointSummary {
  std::string file;
  long written = 0;
  double seconds = 0;              // that writing took, all together; of the slowest rank
  double bytes = 0;                // of the last file
  std::string resumed_from;        // "": from the beginning
  long resumed_iterations = 0;     // that were done when the file was written: the most of any right-hand side
  std::vector<std::string> notes;  // files that could not be used, and why
};

}  // namespace staghorn
