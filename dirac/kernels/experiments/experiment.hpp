// What an experiment asks of the kernels of one rank.
#pragma once

#include <memory>

namespace staghorn {

class BitFlips;

struct Experiment {
  double slowness = 1;              // hops take so many times as long; no result depends on it
  std::shared_ptr<BitFlips> flips;  // bits that change; nullptr: none. All operators of a session share them.
};

}  // namespace staghorn
