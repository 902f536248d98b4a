// How kernels are launched on a GPU where several ways are right: no result depends on it, only time does.
#pragma once

#include <string>

namespace staghorn {

// Blocks stay resident and work through the sites; a wave is as many as the GPU holds at once.
struct LaunchChoice {
  int tile = 16;  // right-hand sides that share a load of a link: the largest tile up to this that divides n_rhs
  int waves = 1;  // of blocks
  friend bool operator==(const LaunchChoice&, const LaunchChoice&) = default;
};

// For each kernel of Conjugate Gradient; the plain hop goes as the one with a norm. `direction` has no tile.
struct LaunchChoices {
  LaunchChoice hop, residual, direction;
};

// off: as above. on: the fastest, timed once and remembered in a file. again: timed in any case, and remembered.
enum class Tuning { off, on, again };

// "off", "on", "again", and back. Parsing throws Error naming the choices.
std::string to_string(Tuning tuning);
Tuning parse_tuning(const std::string& text);
// What the environment's STAGHORN_TUNING says, else on.
Tuning default_tuning();

// What tuning did for an operator.
struct LaunchTuning {
  Tuning mode = Tuning::off;  // always off on a CPU, where nothing is tuned
  LaunchChoices choices;      // in use
  int tuned = 0;              // of them timed now
  int remembered = 0;         // of them read from the file
  double seconds = 0;         // that the timing took
  std::string file;           // where choices are kept; "" where no folder is known
  std::string not_kept;       // why those timed now could not be kept; "" if they are
};

// "tuned 3 launches in 0.21 s, kept in FILE"; "" where none was timed. Local.
std::string to_string(const LaunchTuning& tuning);

}  // namespace staghorn
