// Checks of halo: what a process notes of its activities, and who may use which transport.
#include <latch>
#include <thread>

#include "halo/transport/peer_memory.hpp"
#include "halo/watch/activity.hpp"
#include "tests/unit/unit_checks.hpp"

namespace staghorn {

namespace {

void nest(int depth) {
  const Activity activity("nested");
  if (depth > 1) nest(depth - 1);
}

// Two threads that enter and leave activities at once leave nothing behind.
bool activities_of_threads_do_not_mix() {
  constexpr int rounds = 1000000;
  std::latch start(2);
  const auto work = [&] {
    start.arrive_and_wait();
    for (int round = 0; round < rounds; ++round) nest(12);  // deeper than what is kept
  };
  std::thread first(work), second(work);
  for (int look = 0; look < 1000; ++look) current_activity();
  first.join();
  second.join();
  return CHECK(current_activity() == "computing");
}

// Whoever looks sees what each thread does, from the outermost activity to the innermost.
bool activities_of_each_thread_are_shown() {
  const Activity outer("solving");
  std::latch entered(1), seen(1);
  std::thread other([&] {
    const Activity reading("reading"), a_block("a block");
    entered.count_down();
    seen.wait();
  });
  entered.wait();
  const std::string both = current_activity();
  seen.count_down();
  other.join();
  return CHECK(both == "solving; reading: a block") && CHECK(current_activity() == "solving");
}

// The loops on GPUs have places for so many ranks, and no more.
bool too_many_peers_are_refused() {
  const std::string obstacle = peer_count_obstacle(most_peers + 1);
  return CHECK(peer_count_obstacle(1).empty()) && CHECK(peer_count_obstacle(most_peers).empty()) &&
         CHECK(obstacle == "at most 16 ranks can use it, there are 17");
}

}  // namespace

std::vector<UnitCheck> halo_checks() {
  return {
      UNIT_CHECK(activities_of_threads_do_not_mix),
      UNIT_CHECK(activities_of_each_thread_are_shown),
      UNIT_CHECK(too_many_peers_are_refused),
  };
}

}  // namespace staghorn
