// Random delays where ranks meet, to search for deadlocks and for results that depend on timing. Off unless the
// environment's STAGHORN_STRESS_DELAYS=MICROSECONDS[,SEED] asks for them. Local.
#pragma once

#include "halo/watch/activity.hpp"

namespace staghorn {

// Sleeps for a random time, up to MICROSECONDS, of this rank's own sequence (SEED and `rank`); in one call of four not
// at all, so that some ranks run ahead. Throws Error where the environment's text cannot be understood.
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
