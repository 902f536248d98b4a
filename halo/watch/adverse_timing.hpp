// Random delays where ranks meet, to find deadlocks and results that depend on timing. There are none unless
// STAGHORN_STRESS_DELAYS=MICROSECONDS[,SEED] in the environment asks for them (surroundings.hpp). Local.
#pragma once

#include <cstdint>

#include "halo/watch/activity.hpp"

namespace staghorn {

struct AdverseDelays {
  static constexpr const char* name = "STAGHORN_STRESS_DELAYS";
  long longest = 0;  // microseconds; 0: none
  std::uint64_t seed = 0;

  // From the variable's text; nullptr: none. Throws Error if the text is not valid.
  static AdverseDelays parse(const char* text);
};

// Sleeps for a random time of at most MICROSECONDS. Each rank has its own sequence (from SEED and `rank`). One call of
// four does not sleep, so that some ranks run ahead. Throws Error if the text in the environment is not valid.
void adverse_delay(int rank);

// An activity in which ranks wait for each other, with an adverse delay before and after.
class CollectiveActivity {
 public:
  CollectiveActivity(const char* text, int rank) : activity_(text), rank_(rank) { adverse_delay(rank_); }
  ~CollectiveActivity() { adverse_delay(rank_); }
  CollectiveActivity(const CollectiveActivity&) = delete;
  CollectiveActivity& operator=(const CollectiveActivity&) = delete;

 private:
  Activity activity_;
  int rank_;
};

}  // namespace staghorn
