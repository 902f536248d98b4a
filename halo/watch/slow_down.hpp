// Ranks that take longer on purpose, for experiments with ranks of different speed. A slowed rank waits; no bit of a
// result depends on it.
#pragma once

#include <map>
#include <string>

namespace staghorn {

// By number of a rank in the whole job: how many times as long its work takes, at least 1.
using SlowRanks = std::map<int, double>;

// "1:3", "0:2,1:3"; "none". Throws Error that names the form.
SlowRanks parse_slow_ranks(const std::string& text);
std::string to_string(const SlowRanks& ranks);

// Makes the work of a scope last `factor` times as long: at its end the thread waits for the rest. Sleeps as long as
// it can, so that other processes get the core. A factor of 1 costs a comparison.
class SlowDown {
 public:
  explicit SlowDown(double factor);
  ~SlowDown();
  SlowDown(const SlowDown&) = delete;
  SlowDown& operator=(const SlowDown&) = delete;

 private:
  double factor_, start_ = 0;
};

}  // namespace staghorn
