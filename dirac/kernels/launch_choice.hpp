// How kernels are launched on a GPU. Several launches are right; no result depends on the choice, only time does.
#pragma once

#include <string>

namespace staghorn {

// Blocks stay resident and work through the sites. A wave is as many blocks as the GPU holds at once.
struct LaunchChoice {
  int tile = 16;  // right-hand sides that share a load of a link: the largest tile up to this that divides n_rhs
  int waves = 1;  // how many waves of blocks
  friend bool operator==(const LaunchChoice&, const LaunchChoice&) = default;
};

// One choice for each kernel of Conjugate Gradient. The plain hop takes that of the hop with a norm. `direction` has no
// tile.
struct LaunchChoices {
  LaunchChoice hop, residual, direction;
};

// off: the choices above. on: the fastest choices, timed once and remembered in a file. again: timed in any case, and
// remembered.
enum class Tuning { off, on, again };

// Text of a tuning mode, and back: "off", "on", "again". Parsing throws Error naming the choices.
std::string to_string(Tuning tuning);
Tuning parse_tuning(const std::string& text);
// The mode that the environment variable STAGHORN_TUNING names, else `on`.
Tuning default_tuning();

// What tuning did for an operator.
struct LaunchTuning {
  Tuning mode = Tuning::off;  // always off on a CPU, where nothing is tuned
  LaunchChoices choices;      // in use
  int tuned = 0;              // how many choices were timed now
  int remembered = 0;         // how many were read from the file
  double seconds = 0;         // the time that timing took
  std::string file;           // where choices are kept; "" where no folder is known
  std::string not_kept;       // why the choices timed now could not be kept; "" if they are kept
};

// "tuned 3 launches in 0.21 s, kept in FILE"; "" where none was timed. Local.
std::string to_string(const LaunchTuning& tuning);

}  // namespace staghorn
