// Where the state of a search goes, as a solve and a search for eigenpairs are asked.
#pragma once

#include <optional>
#include <string>

#include "halo/watch/error.hpp"

namespace staghorn {

struct AskedCheckpoint {
  std::optional<std::string> checkpoint;  // file for the state (docs/checkpoints.md)
  double checkpoint_every = 600;          // seconds between two checkpoints
  bool resume = false;                    // go on from `checkpoint`, if it is there

  // Throws Error where it makes no sense. Local.
  void check_checkpoint() const {
    if (!(checkpoint_every >= 0)) throw Error("checkpoint_every", "seconds, 0 or more", checkpoint_every);
    if (checkpoint && checkpoint->empty()) throw Error("checkpoint", "the name of a file", "''");
    if (resume && !checkpoint) throw Error("resume", "a `checkpoint` to go on from", "none");
  }
};

}  // namespace staghorn
